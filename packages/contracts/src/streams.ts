import { subjectToken } from './subjects.ts';

/** The bus as one table: what `slate topology apply` creates and `slate doctor` compares. */
export const HOUR_MS = 3_600_000;

export type StreamSpec = {
  readonly name: StreamName;
  readonly subjects: readonly string[];
  readonly retention: 'workqueue' | 'limits';
  /** 0: no limit. */
  readonly maxAgeMs: number;
  readonly duplicateWindowMs: number;
  /** Limit per subject with "discard new per subject": the publisher is refused, nothing old is dropped. 0: none. */
  readonly maxMessagesPerSubject: number;
  /** Largest message with its headers. 0: what the connection allows. */
  readonly maxMessageBytes: number;
  readonly maxBytes: number;
  /** Its publisher sends runs of messages and wants one answer for each run. Default false. */
  readonly takesRuns?: true;
  readonly description: string;
};

export type StreamName = 'INTAKE' | 'COMMANDS' | 'REPORTS' | 'BLACKBOARD' | 'EVENTS' | 'DLQ';

const GIB = 1024 ** 3;

/**
 * The broker limits a tenant's queue only by number, and so its bytes by the largest message: 1,000 of 6 MiB are 5.9 of
 * the stream's 8 GiB, so that a tenant that sends only the largest leaves 2 GiB to the others. (10,000 of 8 MiB would
 * be ten times the whole stream.) A scheduler accepts a thousand small submits in about a second; beyond that the
 * client is told to come again. 6 MiB hold the largest document, escaped, and slightly larger ones, which the scheduler
 * refuses by name. If a small disk halves the streams, the number is halved with them: see `applyTopology`.
 */
const INTAKE_PER_TENANT = 1_000;
const INTAKE_MESSAGE_BYTES = 6 * 1024 ** 2;

export const STREAMS: readonly StreamSpec[] = [
  {
    name: 'INTAKE',
    subjects: ['cmd.task.*'],
    retention: 'workqueue',
    maxAgeMs: 0,
    // The shortest that the server allows: idempotency is the ledger's key, and message ids are shared by all tenants.
    duplicateWindowMs: 100,
    maxMessagesPerSubject: INTAKE_PER_TENANT,
    maxMessageBytes: INTAKE_MESSAGE_BYTES,
    maxBytes: 8 * GIB,
    description: 'Submits, bounded per tenant',
  },
  {
    name: 'COMMANDS',
    subjects: ['cmd.work.*.*.*', 'cmd.knowledge.*'],
    retention: 'workqueue',
    maxAgeMs: 0,
    duplicateWindowMs: 120_000,
    maxMessagesPerSubject: 0,
    maxMessageBytes: 0,
    maxBytes: 4 * GIB,
    description: 'Doorbells rung from the ledger',
  },
  {
    name: 'REPORTS',
    subjects: ['rpt.*.*.*'],
    retention: 'workqueue',
    maxAgeMs: 0,
    duplicateWindowMs: 120_000,
    maxMessagesPerSubject: 0,
    maxMessageBytes: 0,
    maxBytes: 4 * GIB,
    description: 'How attempts ended',
  },
  {
    name: 'BLACKBOARD',
    subjects: ['blackboard.*.*'],
    retention: 'workqueue',
    maxAgeMs: 0,
    duplicateWindowMs: 120_000,
    maxMessagesPerSubject: 0,
    maxMessageBytes: 0,
    maxBytes: 4 * GIB,
    description: 'Candidate knowledge',
  },
  {
    name: 'EVENTS',
    subjects: ['evt.task.*.*', 'evt.knowledge.*.*'],
    retention: 'limits',
    maxAgeMs: 7 * 24 * HOUR_MS,
    duplicateWindowMs: 120_000,
    maxMessagesPerSubject: 0,
    maxMessageBytes: 0,
    maxBytes: 8 * GIB,
    takesRuns: true,
    description: 'What has been committed',
  },
  {
    name: 'DLQ',
    subjects: ['dlq.*.*'],
    retention: 'workqueue',
    maxAgeMs: 0,
    duplicateWindowMs: 120_000,
    maxMessagesPerSubject: 0,
    maxMessageBytes: 0,
    maxBytes: 4 * GIB,
    description: 'Unreadable messages on their way into the ledger',
  },
];

export type ConsumerSpec = {
  readonly stream: StreamName;
  readonly durable: string;
  readonly filter: string;
  /** Time until an unacked message is redelivered. Commands are acked at the claim, so it can be short. */
  readonly ackWaitMs: number;
  readonly owner: Owner;
};
export type Owner = 'scheduler' | 'knowledge-maintainer' | `worker:${string}`;

/** `max_ack_pending` of every durable. */
export const MAX_ACK_PENDING = 20_000;

// What a killed scheduler had pulled waits this long for the next one: short, since tasks wait for it.
const SERVICE_CONSUMERS: readonly ConsumerSpec[] = [
  { stream: 'INTAKE', durable: 'scheduler-intake', filter: 'cmd.task.*', ackWaitMs: 10_000, owner: 'scheduler' },
  { stream: 'REPORTS', durable: 'scheduler-reports', filter: 'rpt.*.*.*', ackWaitMs: 10_000, owner: 'scheduler' },
  {
    stream: 'EVENTS',
    durable: 'scheduler-settled',
    filter: 'evt.knowledge.*.settled',
    ackWaitMs: 30_000,
    owner: 'scheduler',
  },
  { stream: 'DLQ', durable: 'scheduler-dlq', filter: 'dlq.*.*', ackWaitMs: 30_000, owner: 'scheduler' },
  {
    stream: 'COMMANDS',
    durable: 'maintainer-commands',
    filter: 'cmd.knowledge.*',
    ackWaitMs: 30_000,
    owner: 'knowledge-maintainer',
  },
  {
    stream: 'BLACKBOARD',
    durable: 'maintainer-blackboard',
    filter: 'blackboard.*.*',
    ackWaitMs: 30_000,
    owner: 'knowledge-maintainer',
  },
];

export function workConsumer(role: string): ConsumerSpec {
  return {
    stream: 'COMMANDS',
    durable: `work-${role}`,
    filter: `cmd.work.${subjectToken(role, 'role')}.*.*`,
    // Within this time a worker must say that it still asks for the claim. One that froze with doorbells in its free
    // slots loses them afterwards.
    ackWaitMs: 5_000,
    owner: `worker:${role}`,
  };
}

export const BUILT_IN_ROLES = ['planner', 'retriever', 'analyzer', 'generator', 'validator'] as const;

/** All durables of a platform that runs `roles`. */
export function consumersFor(roles: readonly string[]): readonly ConsumerSpec[] {
  return [...SERVICE_CONSUMERS, ...roles.map(workConsumer)];
}
