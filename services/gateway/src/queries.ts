import { type Bus, type Served, type ServeOptions, serveEndpoint } from '@cleanslate/bus';
import {
  AppError,
  CandidateList,
  DeadLetterList,
  DeadLetterShow,
  type Endpoint,
  FactAsOf,
  FactDisputes,
  FactGet,
  FactHistory,
  FactImpact,
  FactPairs,
  FactRedactions,
  FactReviews,
  FactSearch,
  KnowledgeReports,
  mismatch,
  type RequestOf,
  ScheduleList,
  SessionList,
  SessionShow,
  TaskGet,
  TaskList,
  TaskSteps,
  TaskStory,
  type ValueOf,
  WatchRead,
} from '@cleanslate/contracts';
import {
  findDeadLetter,
  findImpact,
  findSession,
  findTaskSteps,
  findTaskStory,
  listCandidates,
  listDeadLetters,
  listDisputes,
  listPairs,
  listRedactions,
  listReports,
  listReviews,
  listSchedules,
  listSessions,
  listTasks,
  readEvents,
  type Tx,
} from '@cleanslate/store';
import { findFact, findFactsAsOf, findHistory, resolvePin } from './fact-queries.ts';
import type { Ledger } from './ledger.ts';
import { embedQuery, findBySearch } from './search-query.ts';
import { findTask } from './task-query.ts';

export const SOURCE = '/services/gateway';

/** An endpoint with the one read-only transaction that answers it. */
type Query = {
  readonly endpoint: Endpoint;
  serve(bus: Bus, ledger: Ledger, options: ServeOptions): Served;
  /** Like on the bus, for requests over HTTP; `data` was checked against the endpoint's request. */
  answer(ledger: Ledger, tenantId: string, data: unknown): Promise<unknown>;
};

function query<E extends Endpoint>(
  endpoint: E,
  run: (tx: Tx, data: RequestOf<E>, tenantId: string) => Promise<ValueOf<E>>,
): Query {
  return preparedQuery(endpoint, async () => undefined, run);
}

/** `prepare` runs before a database connection is taken. */
function preparedQuery<E extends Endpoint, P>(
  endpoint: E,
  prepare: (ledger: Ledger, data: RequestOf<E>, tenantId: string) => Promise<P>,
  run: (tx: Tx, data: RequestOf<E>, tenantId: string, prepared: P) => Promise<ValueOf<E>>,
): Query {
  const answer = async (ledger: Ledger, tenantId: string, data: RequestOf<E>) => {
    const prepared = await prepare(ledger, data, tenantId);
    return await ledger.read(tenantId, (tx) => run(tx, data, tenantId, prepared));
  };
  return {
    endpoint,
    serve: (bus, ledger, options) =>
      serveEndpoint(bus, endpoint, SOURCE, ({ tenantId, data }) => answer(ledger, tenantId, data), options),
    answer: async (ledger, tenantId, data) => {
      const parsed = endpoint.request.data.safeParse(data);
      if (!parsed.success) throw mismatch('request', parsed.error, data);
      return await answer(ledger, tenantId, parsed.data as RequestOf<E>);
    },
  };
}

/** Every query of the catalogue; a test compares this list with it. */
export const QUERIES: readonly Query[] = [
  query(TaskGet, (tx, { taskId }) => findTask(tx, taskId)),
  query(TaskList, listTasks),
  query(TaskSteps, async (tx, { taskId }) => ({ taskId, steps: await findTaskSteps(tx, taskId) })),
  query(TaskStory, (tx, { taskId }) => findTaskStory(tx, taskId)),
  query(WatchRead, readEvents),
  query(FactGet, findFact),
  query(FactHistory, findHistory),
  query(FactAsOf, findFactsAsOf),
  preparedQuery(FactSearch, embedQuery, findBySearch),
  query(FactDisputes, async (tx, data, tenantId) => ({ disputes: await listDisputes(tx, tenantId, data) })),
  query(CandidateList, listCandidates),
  query(FactImpact, findImpact),
  query(KnowledgeReports, async (tx, data, tenantId) => ({ reports: await listReports(tx, tenantId, data) })),
  query(FactRedactions, listRedactions),
  query(FactReviews, listReviews),
  query(FactPairs, async (tx, data) => listPairs(tx, data, (await resolvePin(tx, data)).revision)),
  query(ScheduleList, listSchedules),
  query(SessionList, listSessions),
  query(SessionShow, async (tx, { sessionId }) => {
    const session = await findSession(tx, sessionId);
    if (session) return session;
    throw new AppError('NOT_FOUND', `no session ${sessionId}, or it has expired: \`slate session list\` shows the ids`);
  }),
  query(DeadLetterList, listDeadLetters),
  query(DeadLetterShow, async (tx, { letterId }) => {
    const letter = await findDeadLetter(tx, letterId);
    if (letter) return letter;
    throw new AppError('NOT_FOUND', `no dead letter ${letterId}: \`slate dlq list\` shows the ids`);
  }),
];

/** Throws `INTERNAL` for an endpoint that the gateway does not serve. */
export function findQuery(endpoint: Endpoint): Query {
  const found = QUERIES.find((each) => each.endpoint === endpoint);
  if (found) return found;
  throw new AppError('INTERNAL', `${endpoint.noun}.${endpoint.verb} is no query of the gateway: add it to QUERIES`);
}

/** Serves all queries in one queue group with the other gateways. */
export function serveQueries(bus: Bus, ledger: Ledger, options: ServeOptions = {}): Served {
  const served = QUERIES.map((each) => each.serve(bus, ledger, options));
  return {
    stop: async () => {
      await Promise.all(served.map((each) => each.stop()));
    },
  };
}
