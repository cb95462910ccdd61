import { type ConsumerSpec, consumersFor, MAX_ACK_PENDING, STREAMS, type StreamSpec } from '@cleanslate/contracts';
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';

/** A field of a stream or durable as the platform needs it; `fixed` ones can't be changed once it exists. */
export type Setting = {
  readonly field: string;
  readonly value: string | number | boolean | readonly string[];
  readonly fixed?: true;
};

export type Topology = { readonly streams: readonly StreamSpec[]; readonly consumers: readonly ConsumerSpec[] };

/**
 * Most pull requests that may wait at one durable: in the worst case one for every slot of every replica (the default
 * is 512).
 */
const MAX_WAITING = 4_096;
const NANOS = 1_000_000;

export function topologyFor(roles: readonly string[]): Topology {
  return { streams: STREAMS, consumers: consumersFor(roles) };
}

/** From this level of its API on a server knows `allow_batched` (2.14); one before it refuses what it doesn't know. */
const API_LEVEL_OF_RUNS = 4;

/**
 * `max_bytes` is not among them: see `applyTopology`. `size` is the share of the table's bytes that the stream has; a
 * subject's part shrinks with it. `apiLevel` is the server's.
 */
export function streamSettings(spec: StreamSpec, size: number, apiLevel: number): readonly Setting[] {
  const perSubject = Math.max(1, Math.floor(spec.maxMessagesPerSubject * size));
  return [
    { field: 'subjects', value: spec.subjects },
    {
      field: 'retention',
      value: spec.retention === 'workqueue' ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
      fixed: true,
    },
    { field: 'storage', value: StorageType.File, fixed: true },
    // With discard=old a full stream drops the oldest unacked work after its publisher saw a PubAck.
    { field: 'discard', value: DiscardPolicy.New },
    { field: 'discard_new_per_subject', value: spec.maxMessagesPerSubject > 0 },
    { field: 'max_msgs_per_subject', value: spec.maxMessagesPerSubject > 0 ? perSubject : -1 },
    { field: 'max_msgs', value: -1 },
    { field: 'max_msg_size', value: spec.maxMessageBytes > 0 ? spec.maxMessageBytes : -1 },
    { field: 'max_age', value: spec.maxAgeMs * NANOS },
    { field: 'duplicate_window', value: spec.duplicateWindowMs * NANOS },
    { field: 'description', value: spec.description },
    ...(apiLevel < API_LEVEL_OF_RUNS ? [] : [{ field: 'allow_batched', value: spec.takesRuns === true }]),
  ];
}

export function consumerSettings(spec: ConsumerSpec): readonly Setting[] {
  return [
    { field: 'filter_subject', value: spec.filter },
    { field: 'ack_policy', value: AckPolicy.Explicit, fixed: true },
    { field: 'deliver_policy', value: DeliverPolicy.All, fixed: true },
    { field: 'replay_policy', value: ReplayPolicy.Instant, fixed: true },
    { field: 'ack_wait', value: spec.ackWaitMs * NANOS },
    // The ledger counts attempts; a limit here would strand messages without telling anybody.
    { field: 'max_deliver', value: -1 },
    { field: 'max_ack_pending', value: MAX_ACK_PENDING },
    { field: 'max_waiting', value: MAX_WAITING, fixed: true },
  ];
}

/** Fields that the server leaves out of a configuration if they have their zero or default value. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  discard_new_per_subject: false,
  description: '',
  max_age: 0,
  allow_batched: false,
};

export type Difference = {
  /** `stream COMMANDS` or `durable COMMANDS/work-analyzer`. */
  readonly what: string;
  readonly field: string;
  readonly expected: unknown;
  /** Undefined if the stream or durable is missing altogether. */
  readonly found: unknown;
  /** False: only deleting and recreating it can repair it, which is left to a person. */
  readonly repairable: boolean;
};

export function compareSettings(what: string, settings: readonly Setting[], found: object): Difference[] {
  return settings.flatMap(({ field, value, fixed }) => {
    const actual: unknown = (found as Record<string, unknown>)[field] ?? DEFAULTS[field];
    if (same(value, actual)) return [];
    return [{ what, field, expected: value, found: actual, repairable: fixed !== true }];
  });
}

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());
  return a === b;
}
