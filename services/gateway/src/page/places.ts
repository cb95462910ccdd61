import {
  AppError,
  CandidateList,
  DeadLetterList,
  FactAsOf,
  type Pin,
  type RequestOf,
  ScheduleList,
  TaskId,
  TaskList,
} from '@cleanslate/contracts';
import {
  findDeadLetter,
  findFactHistory,
  findTaskSteps,
  findTaskStory,
  getLastRevision,
  listCandidates,
  listDeadLetters,
  listSchedules,
  listTasks,
  type Tx,
} from '@cleanslate/store';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { findFactsAsOf, unknownFact } from '../fact-queries.ts';
import type { Ledger } from '../ledger.ts';
import { findTask } from '../task-query.ts';
import { yearsOf } from './belief-chart.ts';
import { blackboardPage } from './blackboard-page.ts';
import { factPage } from './fact-page.ts';
import { factsPage, type PinRange } from './facts-page.ts';
import { letterPage, lettersPage } from './letters-page.ts';
import type { Show } from './routes.ts';
import { schedulesPage } from './schedules-page.ts';
import { taskPage } from './task-page.ts';
import { tasksPage } from './tasks-page.ts';

type Add = (url: string, make: Show) => void;

/** Each place reads everything it shows in one transaction, so it never mixes two moments. */
export function addPlaces(show: Add, ledger: Ledger): void {
  const place = (url: string, make: (tx: Tx, request: FastifyRequest, tenantId: string) => ReturnType<Show>) =>
    show(url, (request, { tenantId }) => ledger.read(tenantId, (tx) => make(tx, request, tenantId)));
  place('/', async (tx, request) => {
    const { cursor, ...filter } = readQuery(request);
    const page = await listTasks(tx, toRequest(TaskList, { ...filter, before: cursor, limit: '50' }));
    return tasksPage(page, filter);
  });
  place('/tasks/:id', (tx, request) => showTask(tx, TaskId.parse(readId(request))));
  place('/blackboard', async (tx, request) => {
    const { cursor, state } = readQuery(request);
    const filter = state === undefined ? {} : { state };
    return blackboardPage(
      await listCandidates(tx, toRequest(CandidateList, { ...filter, before: cursor, limit: '50' })),
      filter,
    );
  });
  place('/dead-letters', async (tx, request) => {
    const { cursor, ...filter } = readQuery(request);
    return lettersPage(
      await listDeadLetters(tx, toRequest(DeadLetterList, { ...filter, before: cursor, limit: '50' })),
      filter,
    );
  });
  place('/dead-letters/:id', async (tx, request) => {
    const letter = await findDeadLetter(tx, readId(request));
    if (letter === undefined) throw new AppError('NOT_FOUND', 'There is no such dead letter.');
    return letterPage(letter);
  });
  place('/schedules', async (tx, request) =>
    schedulesPage(
      await listSchedules(tx, toRequest(ScheduleList, { after: readQuery(request)['cursor'], limit: '50' })),
    ),
  );
  addFactPlaces(place);
}

function addFactPlaces(
  place: (url: string, make: (tx: Tx, request: FastifyRequest, tenantId: string) => ReturnType<Show>) => void,
): void {
  place('/facts', async (tx, request, tenantId) => {
    const { cursor, prefix, ...asked } = readQuery(request);
    const last = await getLastRevision(tx);
    const pin = readPin(asked, last);
    const more = { ...(prefix === undefined ? {} : { prefix }), ...(cursor === undefined ? {} : { after: cursor }) };
    const page = await findFactsAsOf(tx, { ...pin, ...toRequest(FactAsOf, more), limit: 100 }, tenantId);
    const named = {
      ...('validAt' in asked || 'revision' in asked ? pin : {}),
      ...(prefix === undefined ? {} : { prefix }),
    };
    return factsPage(page, pin, toRange([], last), named);
  });
  place('/facts/:id', async (tx, request, tenantId) => {
    const last = await getLastRevision(tx);
    const pin = readPin(readQuery(request), last);
    const versions = await findFactHistory(tx, tenantId, readId(request), pin.revision);
    if (versions.length === 0) throw unknownFact(readId(request));
    return factPage(versions, pin, toRange(versions, last));
  });
}

async function showTask(tx: Tx, taskId: string): ReturnType<Show> {
  const [task, steps, story, { candidates }, { letters }] = await Promise.all([
    findTask(tx, taskId),
    findTaskSteps(tx, taskId),
    findTaskStory(tx, taskId),
    listCandidates(tx, { taskId, limit: 100 }),
    listDeadLetters(tx, { taskId, limit: 20 }),
  ]);
  return taskPage({ task, steps, story, candidates, letters });
}

function readId(request: FastifyRequest): string {
  return z.object({ id: z.string() }).parse(request.params).id;
}

/** Empty fields of a form were not given; a repeated one counts once. */
function readQuery(request: FastifyRequest): Record<string, string> {
  const fields = z.record(z.string(), z.unknown()).parse(request.query);
  const given = Object.entries(fields).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );
  return Object.fromEntries(given.filter(([name]) => name !== 'said'));
}

/** Unknown fields are ignored rather than refused: an old link still shows something. */
function toRequest<
  E extends typeof TaskList | typeof CandidateList | typeof DeadLetterList | typeof ScheduleList | typeof FactAsOf,
>(endpoint: E, given: Readonly<Record<string, string | undefined>>): RequestOf<E> {
  const { shape } = endpoint.request.data;
  const known = Object.entries(given).filter(([name, value]) => name in shape && value !== undefined);
  const read = known.map(([name, value]) => [name, name === 'limit' ? Number(value) : value]);
  const parsed = endpoint.request.data.safeParse(Object.fromEntries(read));
  if (!parsed.success) throw new AppError('INVALID_INPUT', 'That filter is none: go back and choose another.');
  return parsed.data as RequestOf<E>;
}

/** The form's two time axes; the default of both is the latest. */
function readPin(asked: Readonly<Record<string, string>>, last: number): Pin {
  // A field of a form has no zone: the form says UTC.
  const text = asked['validAt']?.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?)$/, '$1Z');
  const validAt = text === undefined ? Date.now() : Date.parse(text);
  const revision = asked['revision'] === undefined ? last : Number(asked['revision']);
  if (Number.isNaN(validAt) || !Number.isSafeInteger(revision) || revision < 0)
    throw new AppError('INVALID_INPUT', 'That is not a moment or a revision: go back and choose another.');
  return { validAt: new Date(validAt).toISOString(), revision: Math.min(revision, last) };
}

function toRange(versions: Parameters<typeof yearsOf>[0], lastRevision: number): PinRange {
  const { from, until } = yearsOf(versions, Date.now());
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return { from: day(from - (versions.length === 0 ? 3 * 365 * 86_400_000 : 0)), until: day(until), lastRevision };
}
