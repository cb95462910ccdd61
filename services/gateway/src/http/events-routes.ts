import type { Bus } from '@cleanslate/bus';
import { TaskId, toAppError } from '@cleanslate/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Ledger } from '../ledger.ts';
import type { Caller } from './api-keys.ts';
import { readFields } from './read-request.ts';
import { type StreamLimits, streamSlots } from './stream-slots.ts';
import { streamEvents } from './task-events.ts';

const RECHECK_MS = 15_000;

/** Beyond the stream limits: 429. */
export type EventsRoutesOptions = StreamLimits & {
  readonly bus: Bus;
  readonly ledger: Ledger;
  /** Fires when the gateway drains: open streams end, clients resume elsewhere. */
  readonly drain: AbortSignal;
  readonly callerOf: (request: FastifyRequest) => Caller;
  /** False: its key was revoked or its session has ended since it arrived. */
  readonly isStillGood: (request: FastifyRequest) => Promise<boolean>;
  /** How often an open stream's credential is checked again. Milliseconds, default 15 s. */
  readonly recheckMs?: number;
  /** Called for streams that broke off. */
  readonly onFailure: (error: Error, request: FastifyRequest) => void;
};

export function addEventsRoutes(app: FastifyInstance, options: EventsRoutesOptions): void {
  const takeSlot = streamSlots(options);
  app.get('/v1/events', (request, reply) => stream(request, reply, undefined));
  app.get('/v1/tasks/:taskId/events', (request, reply) => {
    const { taskId } = readFields('path', { taskId: TaskId }, request.params);
    return stream(request, reply, TaskId.parse(taskId));
  });

  async function stream(request: FastifyRequest, reply: FastifyReply, taskId: string | undefined): Promise<void> {
    const { tenantId } = options.callerOf(request);
    readFields('query', {}, request.query);
    const giveBack = takeSlot(tenantId);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const recheck = setInterval(() => {
      void options.isStillGood(request).then((good) => good || gone.abort());
    }, options.recheckMs ?? RECHECK_MS);
    const lastEventId = request.headers['last-event-id'];
    const events = {
      tenantId,
      taskId,
      lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
      signal: AbortSignal.any([gone.signal, options.drain]),
    };
    // The framework writes none of them once the answer is ours.
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    try {
      await streamEvents(options.bus, options.ledger, events, reply.raw);
      reply.hijack();
    } catch (error) {
      // Once events flow no status can be sent: the client sees the end and resumes.
      if (!reply.raw.headersSent) throw error;
      reply.hijack();
      options.onFailure(toAppError(error), request);
    } finally {
      clearInterval(recheck);
      giveBack();
    }
  }
}
