import { z } from 'zod';
import { ErrorBody } from './errors.ts';
import { defineMessage, type MessageDefinition } from './message.ts';
import { subjectToken } from './subjects.ts';

export type ServedBy = 'gateway' | 'scheduler' | 'knowledge-maintainer';

/** A request / reply pair on core NATS. Subject: `<plane>.<tenant>.<noun>.<verb>`. */
export type Endpoint<Req extends z.ZodType = z.ZodType, Res extends z.ZodType = z.ZodType> = {
  /**
   * `qry`: read-only, served by the gateway. `ctl`: changes something, answered after commit.
   * `obj`: between services only.
   */
  readonly plane: 'qry' | 'ctl' | 'obj';
  readonly noun: 'task' | 'fact' | 'dlq' | 'watch' | 'object' | 'schedule' | 'knowledge' | 'session';
  readonly verb: string;
  readonly servedBy: ServedBy;
  readonly request: MessageDefinition<Req>;
  readonly reply: MessageDefinition<ReplySchema<Res>>;
};

type ReplySchema<Res extends z.ZodType> = z.ZodDiscriminatedUnion<
  [
    z.ZodObject<{ ok: z.ZodLiteral<true>; value: Res }, z.core.$strict>,
    z.ZodObject<{ ok: z.ZodLiteral<false>; error: typeof ErrorBody }, z.core.$strict>,
  ]
>;

export type RequestOf<E> = E extends Endpoint<infer Req, z.ZodType> ? z.infer<Req> : never;
export type ValueOf<E> = E extends Endpoint<z.ZodType, infer Res> ? z.infer<Res> : never;

/** Schemas are built when first asked for: a process uses few endpoints, and those of all would cost 1 MB of heap. */
export function defineEndpoint<Req extends z.ZodType, Res extends z.ZodType>(
  head: Pick<Endpoint, 'plane' | 'noun' | 'verb' | 'servedBy'>,
  request: () => Req,
  value: () => Res,
): Endpoint<Req, Res> {
  // A subject may contain `as-of`; an event type has no hyphen.
  const name = `${head.noun}.${head.verb.replaceAll('-', '_')}`;
  const toRequest = once(() => defineMessage({ name, version: 1, data: request() }));
  const toReply = once(() => defineMessage({ name: `${name}.reply`, version: 1, data: replyOf(value()) }));
  return {
    ...head,
    get request() {
      return toRequest();
    },
    get reply() {
      return toReply();
    },
  };
}

function replyOf<Res extends z.ZodType>(value: Res): ReplySchema<Res> {
  return z.discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), value }),
    z.strictObject({ ok: z.literal(false), error: ErrorBody }),
  ]);
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/**
 * Subject of an endpoint for one tenant; `*` is for a service that serves all tenants. Throws `INVALID_INPUT` for
 * anything else.
 */
export function endpointSubject(endpoint: Pick<Endpoint, 'plane' | 'noun' | 'verb'>, tenantId: string): string {
  const tenant = tenantId === '*' ? tenantId : subjectToken(tenantId, 'tenant');
  return `${endpoint.plane}.${tenant}.${endpoint.noun}.${endpoint.verb}`;
}
