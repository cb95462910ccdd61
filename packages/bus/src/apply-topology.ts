import { AppError, type ConsumerSpec, type StreamSpec } from '@cleanslate/contracts';
import {
  type ConsumerConfig,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { Bus } from './bus.ts';
import {
  compareSettings,
  consumerSettings,
  type Difference,
  type Setting,
  streamSettings,
  topologyFor,
} from './topology.ts';
import { lintTopology } from './topology-lint.ts';

export type TopologyOptions = {
  readonly roles: readonly string[];
  /** Copies of each stream in a cluster. Default 1. */
  readonly replicas?: number;
};

export type AppliedTopology = {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  /** Share of their byte limits that the streams get: 1, or 1/2, 1/4 … if the server's storage allows no more. */
  readonly sizeFactor: number;
};

const STREAM_NOT_FOUND = 10059;
const CONSUMER_NOT_FOUND = 10014;
/** "insufficient storage resources available": the sum of all `max_bytes` is reserved. */
const STORAGE_EXCEEDED = [10047, 10023, 10002];
/** A cluster answers this for several reasons: only its text tells which. */
const NO_SUITABLE_PEERS = 10005;
/** With less a stream could not hold even a few submits: the server is too small. */
const SMALLEST_STREAM_BYTES = 16 * 1024 ** 2;

/**
 * Creates streams and durables as the catalogue defines them; safe to repeat and to run twice at once. Throws
 * `CONFIGURATION` for a difference that the server can't change in place, before anything is changed. Byte limits: the
 * server reserves `max_bytes` of every stream against its own storage, so the table's sizes (32 GiB) don't fit a small
 * disk. They are halved together until they fit; without limits one stream could fill the disk and stop the others. A
 * tenant's queue is halved with them, so that it stays a part of its stream on any disk.
 */
export async function applyTopology(bus: Bus, options: TopologyOptions): Promise<AppliedTopology> {
  const topology = topologyFor(options.roles);
  const faults = lintTopology(topology);
  if (faults.length > 0) throw new AppError('CONFIGURATION', `topology: ${faults.join('; ')}`);
  const fixed = (await diffTopology(bus, options)).filter((difference) => !difference.repairable);
  if (fixed.length > 0) throw irreparable(fixed);
  const jsm = await jetstreamManager(bus.raw, { checkAPI: false, timeout: 10_000 });
  const created: string[] = [];
  const updated: string[] = [];
  const note = (what: string, outcome: Outcome) => {
    if (outcome === 'created' && !created.includes(what)) created.push(what);
    if (outcome === 'updated' && !created.includes(what) && !updated.includes(what)) updated.push(what);
  };
  const replicas = options.replicas ?? 1;
  const apiLevel = await readApiLevel(jsm);
  await withFittingSize(async (factor) => {
    if (replicas > 1) await requireRoom(jsm, topology.streams, factor, replicas);
    for (const spec of topology.streams)
      note(`stream ${spec.name}`, await applyStream(jsm, spec, { factor, replicas, apiLevel }));
  });
  for (const spec of topology.consumers) note(consumerTitle(spec), await applyConsumer(jsm, spec));
  const sizes = await Promise.all(
    topology.streams.map(async (spec) => (await jsm.streams.info(spec.name)).config.max_bytes / spec.maxBytes),
  );
  return { created, updated, sizeFactor: Math.min(...sizes) };
}

/** Every difference between the broker and the catalogue, field by field. Empty: no difference. */
export async function diffTopology(bus: Bus, options: TopologyOptions): Promise<Difference[]> {
  const jsm = await jetstreamManager(bus.raw, { checkAPI: false, timeout: 10_000 });
  const { streams, consumers } = topologyFor(options.roles);
  const apiLevel = await readApiLevel(jsm);
  const differences: Difference[] = [];
  for (const spec of streams) {
    const what = `stream ${spec.name}`;
    const info = await findStream(jsm, spec.name);
    differences.push(...(info === undefined ? [missing(what)] : compareStream(what, spec, info, apiLevel)));
  }
  for (const spec of consumers) {
    const info = await orMissing(jsm.consumers.info(spec.stream, spec.durable));
    const what = consumerTitle(spec);
    differences.push(
      ...(info === undefined ? [missing(what)] : compareSettings(what, consumerSettings(spec), info.config)),
    );
  }
  return differences;
}

type Outcome = 'created' | 'updated' | 'unchanged';

async function applyStream(
  jsm: JetStreamManager,
  spec: StreamSpec,
  { factor, replicas, apiLevel }: { readonly factor: number; readonly replicas: number; readonly apiLevel: number },
): Promise<Outcome> {
  const settings = (bytes: number) =>
    toConfig(streamSettings(spec, bytes / spec.maxBytes, apiLevel)) as Partial<StreamConfig>;
  const maxBytes = Math.floor(spec.maxBytes * factor);
  const info = await findStream(jsm, spec.name);
  if (info === undefined) {
    await jsm.streams.add({ ...settings(maxBytes), name: spec.name, max_bytes: maxBytes, num_replicas: replicas });
    return 'created';
  }
  const same =
    compareStream('', spec, info, apiLevel).length === 0 && (factor === 1 || info.config.max_bytes <= maxBytes);
  if (same && info.config.num_replicas === replicas) return 'unchanged';
  const bytes = isSizeOf(spec, info.config.max_bytes) ? Math.min(maxBytes, info.config.max_bytes) : maxBytes;
  await jsm.streams.update(spec.name, { ...settings(bytes), max_bytes: bytes, num_replicas: replicas });
  return 'updated';
}

/**
 * Throws what the server says if the streams that are still missing don't fit together. Servers of a cluster exchange
 * their reservations only every ten seconds, so streams created one after the other get more than there is, and from
 * then on no update of a stream is accepted, not even to a smaller one. A single stream of their total size is refused
 * at once.
 */
async function requireRoom(jsm: JetStreamManager, specs: readonly StreamSpec[], factor: number, replicas: number) {
  const found = await Promise.all(specs.map((spec) => findStream(jsm, spec.name)));
  const bytes = specs.reduce((sum, spec, n) => (found[n] === undefined ? sum + spec.maxBytes * factor : sum), 0);
  if (bytes === 0) return;
  const room = { name: 'ROOM', subjects: ['room'], max_bytes: Math.floor(bytes), num_replicas: replicas };
  const remove = () => orMissing(jsm.streams.delete(room.name));
  // A leftover of an interrupted attempt may have another size.
  await remove();
  await jsm.streams.add({ ...room, storage: 'file', retention: 'limits', discard: 'new' });
  await remove();
}

/**
 * Creates one durable as the catalogue defines it, and touches nothing else: for a role that joins a running platform.
 */
export async function applyDurable(bus: Bus, spec: ConsumerSpec): Promise<void> {
  await applyConsumer(await jetstreamManager(bus.raw, { checkAPI: false, timeout: 10_000 }), spec);
}

async function applyConsumer(jsm: JetStreamManager, spec: ConsumerSpec): Promise<Outcome> {
  const settings = toConfig(consumerSettings(spec)) as Partial<ConsumerConfig>;
  const info = await orMissing(jsm.consumers.info(spec.stream, spec.durable));
  if (info === undefined) {
    await jsm.consumers.add(spec.stream, { ...settings, durable_name: spec.durable });
    return 'created';
  }
  if (compareSettings('', consumerSettings(spec), info.config).length === 0) return 'unchanged';
  await jsm.consumers.update(spec.stream, spec.durable, settings);
  return 'updated';
}

/** Runs `make` with ever smaller factors until the server has room. */
async function withFittingSize(make: (factor: number) => Promise<void>): Promise<void> {
  for (let factor = 1; ; factor /= 2) {
    try {
      await make(factor);
      return;
    } catch (error) {
      const full = isFull(error);
      if (full && (4 * 1024 ** 3 * factor) / 2 >= SMALLEST_STREAM_BYTES) continue;
      if (full)
        throw new AppError('CONFIGURATION', `JetStream has too little storage: raise max_file_store`, { cause: error });
      throw error;
    }
  }
}

function isFull(error: unknown): boolean {
  if (!(error instanceof JetStreamApiError)) return false;
  const noRoom = error.code === NO_SUITABLE_PEERS && /insufficient storage/i.test(error.message);
  return noRoom || STORAGE_EXCEEDED.includes(error.code);
}

function compareStream(what: string, spec: StreamSpec, info: StreamInfo, apiLevel: number): Difference[] {
  const found = info.config.max_bytes;
  const ours = isSizeOf(spec, found);
  const size = { what, field: 'max_bytes', expected: spec.maxBytes, found, repairable: true };
  const settings = streamSettings(spec, ours ? found / spec.maxBytes : 1, apiLevel);
  return [...compareSettings(what, settings, info.config), ...(ours ? [] : [size])];
}

/** The table's size or a halving of it: both are valid. */
function isSizeOf(spec: StreamSpec, bytes: number): boolean {
  return bytes >= 1 && bytes <= spec.maxBytes && Number.isInteger(Math.log2(spec.maxBytes / bytes));
}

function toConfig(settings: readonly Setting[]): Record<string, unknown> {
  return Object.fromEntries(settings.map(({ field, value }) => [field, value]));
}

/** Of the server that decides about streams. One before 2.11 does not say: 0. */
async function readApiLevel(jsm: JetStreamManager): Promise<number> {
  const { api } = await jsm.getAccountInfo();
  return (api as { readonly level?: number }).level ?? 0;
}

function findStream(jsm: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
  return orMissing(jsm.streams.info(name));
}

async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    const absent = error instanceof JetStreamApiError && [STREAM_NOT_FOUND, CONSUMER_NOT_FOUND].includes(error.code);
    if (absent) return undefined;
    throw error;
  }
}

function consumerTitle({ stream, durable }: ConsumerSpec): string {
  return `durable ${stream}/${durable}`;
}

function missing(what: string): Difference {
  return { what, field: '(all)', expected: 'present', found: undefined, repairable: true };
}

function irreparable(differences: readonly Difference[]): AppError {
  const list = differences.map(
    (d) => `${d.what}: ${d.field} is ${JSON.stringify(d.found)}, must be ${JSON.stringify(d.expected)}`,
  );
  const text = `${list.join('; ')}. This can't be changed in place: drain it, delete it with the nats CLI, apply again`;
  return new AppError('CONFIGURATION', text, { details: { differences: list } });
}
