import { ENDPOINTS } from './endpoints.ts';
import { type ConsumerSpec, consumersFor } from './streams.ts';
import { subjectToken } from './subjects.ts';

/** Who connects to the bus. Each has its own credential and its own inbox prefix. */
export type Principal =
  | { readonly kind: 'scheduler' | 'knowledge-maintainer' | 'gateway' | 'admin' }
  | { readonly kind: 'worker'; readonly role: string }
  | { readonly kind: 'tenant'; readonly tenantId: string };

export type Permissions = {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** May answer the requests it receives (NATS `allow_responses`), and so needs permission for no inbox but its own. */
  readonly allowResponses: boolean;
};

/**
 * User name of a principal. Throws `INVALID_INPUT` for a role or tenant that is not an id: permissions are built from
 * them.
 */
export function principalName(principal: Principal): string {
  if (principal.kind === 'worker') return `worker-${subjectToken(principal.role, 'role')}`;
  if (principal.kind === 'tenant') return `tenant-${subjectToken(principal.tenantId, 'tenant')}`;
  return principal.kind;
}

export function inboxPrefix(principal: Principal): string {
  return `_INBOX_${principalName(principal)}`;
}

/**
 * The subjects of the catalogue with who publishes (or requests) and who subscribes (or
 * serves). `*` stands for any one id.
 */
const CHANNELS: readonly { subject: string; publish: readonly Who[]; subscribe: readonly Who[] }[] = [
  { subject: 'cmd.task.{tenant}', publish: ['tenant', 'gateway'], subscribe: [] },
  { subject: 'cmd.work.*.*.*', publish: ['scheduler'], subscribe: [] },
  { subject: 'cmd.knowledge.*', publish: ['scheduler'], subscribe: [] },
  { subject: 'rpt.{role}.*.*', publish: ['worker'], subscribe: [] },
  // The scheduler puts replayed dead letters back; their reader is the maintainer.
  { subject: 'blackboard.*.*', publish: ['worker', 'scheduler'], subscribe: [] },
  { subject: 'evt.task.{tenant}.*', publish: ['scheduler'], subscribe: ['tenant', 'gateway'] },
  { subject: 'evt.knowledge.{tenant}.*', publish: ['knowledge-maintainer'], subscribe: ['tenant', 'gateway'] },
  { subject: 'prg.{tenant}.*', publish: ['worker'], subscribe: ['tenant', 'gateway'] },
  { subject: 'claim.{role}', publish: ['worker'], subscribe: ['scheduler'] },
  { subject: 'hb.{role}', publish: ['worker'], subscribe: ['scheduler'] },
  { subject: 'reg.{role}', publish: ['worker'], subscribe: ['scheduler'] },
  { subject: 'mdl.{role}', publish: ['worker'], subscribe: ['scheduler'] },
  { subject: 'abort.{role}.*', publish: ['scheduler'], subscribe: ['worker'] },
  ...ENDPOINTS.map((endpoint) => ({
    subject: `${endpoint.plane}.{tenant}.${endpoint.noun}.${endpoint.verb}`,
    publish: endpoint.plane === 'obj' ? (['worker', 'gateway'] as const) : (['tenant', 'gateway'] as const),
    subscribe: [endpoint.servedBy] as const,
  })),
];
type Who = Principal['kind'];

/** Permissions of one principal, derived from the channels and the durables it owns. Everything not named is denied. */
export function permissionsFor(principal: Principal, roles: readonly string[]): Permissions {
  const inbox = `${inboxPrefix(principal)}.>`;
  if (principal.kind === 'admin')
    return { publish: ['$JS.API.>', '$SYS.REQ.USER.INFO'], subscribe: [inbox], allowResponses: false };
  const fill = (subject: string) =>
    subject
      .replace('{tenant}', principal.kind === 'tenant' ? principal.tenantId : '*')
      .replace('{role}', principal.kind === 'worker' ? principal.role : '*');
  const consumers = consumersFor(roles).filter((consumer) => owns(principal, consumer));
  const publish = CHANNELS.filter((channel) => channel.publish.includes(principal.kind)).map((channel) =>
    fill(channel.subject),
  );
  const subscribe = CHANNELS.filter((channel) => channel.subscribe.includes(principal.kind)).map((channel) =>
    fill(channel.subject),
  );
  return {
    publish: [
      ...publish,
      ...consumers.flatMap(consumerSubjects),
      ...deadLetterSubjects(consumers),
      ...streamInfo(principal),
    ],
    subscribe: [...subscribe, inbox],
    allowResponses: ['scheduler', 'knowledge-maintainer', 'gateway'].includes(principal.kind),
  };
}

function owns(principal: Principal, consumer: ConsumerSpec): boolean {
  return consumer.owner === (principal.kind === 'worker' ? `worker:${principal.role}` : principal.kind);
}

function consumerSubjects({ stream, durable }: ConsumerSpec): string[] {
  return [
    // A dead letter names its stream by name and creation time.
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    `$JS.ACK.${stream}.${durable}.>`,
  ];
}

function deadLetterSubjects(consumers: readonly ConsumerSpec[]): string[] {
  return consumers.map(({ stream, durable }) => `dlq.${stream}.${durable}`);
}

/**
 * The scheduler compares stream positions (ack floors, the sequence of a doorbell or of a replayed message) with the
 * ledger; the maintainer compares its revision when it starts.
 */
function streamInfo(principal: Principal): string[] {
  if (principal.kind === 'knowledge-maintainer') return ['$JS.API.STREAM.MSG.GET.EVENTS'];
  if (principal.kind !== 'scheduler') return [];
  return [
    ...['INTAKE', 'COMMANDS', 'REPORTS', 'BLACKBOARD', 'EVENTS', 'DLQ'].map(
      (stream) => `$JS.API.STREAM.INFO.${stream}`,
    ),
    ...['COMMANDS', 'EVENTS'].map((stream) => `$JS.API.STREAM.MSG.GET.${stream}`),
    // Events that contain redacted text are deleted from the stream; their followers find in the ledger what remains.
    '$JS.API.STREAM.MSG.DELETE.EVENTS',
    '$JS.API.STREAM.MSG.GET.BLACKBOARD',
    // A doorbell that its durable has given up on is deleted, and rung anew.
    '$JS.API.CONSUMER.INFO.COMMANDS.*',
    '$JS.API.STREAM.MSG.DELETE.COMMANDS',
    // Submits behind another tenant's flood are read ahead, and deleted once they are committed.
    ...['GET', 'DELETE'].map((verb) => `$JS.API.STREAM.MSG.${verb}.INTAKE`),
  ];
}
