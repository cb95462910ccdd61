import type { Bus } from '@cleanslate/bus';
import { AppError, HTTP_ROUTES } from '@cleanslate/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../http/api-keys.ts';
import { toAnswer } from '../http/endpoint-routes.ts';
import type { Ledger } from '../ledger.ts';
import { path } from './html.ts';

export type ActionOptions = { readonly bus: Bus; readonly ledger: Ledger };

/** What was done, for the address afterwards: fixed words, no user's text. */
export const SAID = [
  'cancelled',
  'runs-again',
  'approved',
  'rejected',
  'is-replayed',
  'discarded',
  'paused',
  'resumed',
] as const;

type Action = {
  /** Of the list of routes. */
  readonly route: string;
  readonly url: string;
  readonly id: 'taskId' | 'letterId' | 'scheduleId';
  /** Fields of the form that go into the request. */
  readonly takes: readonly string[];
  readonly said: (typeof SAID)[number];
  readonly back: (id: string) => string;
};

const task = (id: string) => path`/tasks/${id}`;
const letter = (id: string) => path`/dead-letters/${id}`;
const ACTIONS: readonly Action[] = [
  { route: 'cancelTask', url: '/tasks/:id/cancel', id: 'taskId', takes: [], said: 'cancelled', back: task },
  { route: 'retryTask', url: '/tasks/:id/retry', id: 'taskId', takes: [], said: 'runs-again', back: task },
  { route: 'approveTask', url: '/tasks/:id/approve', id: 'taskId', takes: ['sha256'], said: 'approved', back: task },
  {
    route: 'rejectTask',
    url: '/tasks/:id/reject',
    id: 'taskId',
    takes: ['sha256', 'reason'],
    said: 'rejected',
    back: task,
  },
  {
    route: 'replayDeadLetter',
    url: '/dead-letters/:id/replay',
    id: 'letterId',
    takes: [],
    said: 'is-replayed',
    back: letter,
  },
  {
    route: 'discardDeadLetter',
    url: '/dead-letters/:id/discard',
    id: 'letterId',
    takes: ['reason'],
    said: 'discarded',
    back: letter,
  },
  {
    route: 'pauseSchedule',
    url: '/schedules/:id/pause',
    id: 'scheduleId',
    takes: [],
    said: 'paused',
    back: () => '/schedules',
  },
  {
    route: 'resumeSchedule',
    url: '/schedules/:id/resume',
    id: 'scheduleId',
    takes: [],
    said: 'resumed',
    back: () => '/schedules',
  },
];

type Ways = {
  readonly callerOf: (request: FastifyRequest) => Promise<Caller | undefined>;
  readonly onError: (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => void;
};

const Params = z.object({ id: z.string() });
const Form = z.record(z.string(), z.string());

/** The page's buttons: each calls the API's route of that name, and leads back to its subject. */
export function addActions(app: FastifyInstance, options: ActionOptions, { callerOf, onError }: Ways): void {
  for (const action of ACTIONS) {
    const route = HTTP_ROUTES.find(({ id }) => id === action.route);
    if (route === undefined) throw new AppError('INTERNAL', `there is no route ${action.route}`);
    const answer = toAnswer(route, options);
    app.post(action.url, { config: { page: true }, errorHandler: onError }, async (request, reply) => {
      const caller = await callerOf(request);
      const { id } = Params.parse(request.params);
      if (caller === undefined) return reply.redirect(`/login?next=${encodeURIComponent(action.back(id))}`, 303);
      const form = Form.parse(request.body ?? {});
      // An empty field counts as not given.
      const given = action.takes.flatMap((name) => (form[name] ? [[name, form[name]]] : []));
      const data = { [action.id]: id, ...Object.fromEntries(given) };
      const checked = route.endpoint.request.data.safeParse(data);
      if (!checked.success) throw new AppError('INVALID_INPUT', 'the form lacks something: go back and fill it in');
      await answer(caller.tenantId, data, crypto.randomUUID());
      return reply.redirect(`${action.back(id)}?said=${action.said}`, 303);
    });
  }
}
