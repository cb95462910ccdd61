import type { z } from 'zod';
import { checkJson } from './check-json.ts';
import { Envelope, type EnvelopeAttributes } from './envelope.ts';
import { AppError, toAppError } from './errors.ts';
import { issueWords } from './issue-words.ts';
import { MESSAGE_BOUNDS, parseJson } from './json.ts';
import { toStorableText } from './storable-text.ts';

/** One message type in its current version, with the upcasters from each older one. */
export type MessageDefinition<S extends z.ZodType = z.ZodType> = {
  /** Without version: `task.submit`. */
  readonly name: string;
  readonly version: number;
  /** Strict schema of `data` in the current version. */
  readonly data: S;
  /** `upcasters[v]` turns data of version v into version v + 1. */
  readonly upcasters: Readonly<Record<number, (data: unknown) => unknown>>;
  /** The oldest reader that may read this version when it drops the keys it doesn't know. */
  readonly minReader: number;
};

export type DataOf<M> = M extends MessageDefinition<infer S> ? z.infer<S> : never;

export function defineMessage<S extends z.ZodType>(
  definition: Pick<MessageDefinition<S>, 'name' | 'version' | 'data'> & Partial<MessageDefinition<S>>,
): MessageDefinition<S> {
  return { upcasters: {}, minReader: definition.version, ...definition };
}

export function typeOf(definition: Pick<MessageDefinition, 'name' | 'version'>): string {
  return `${definition.name}.v${definition.version}`;
}

/** `urn:` because it names the schema; the documents themselves ship in `docs/schemas/`. */
export function schemaUrn(type: string): string {
  return `urn:cleanslate:schema:${type}`;
}

const encoder = new TextEncoder();

/** Builds the envelope. `data` is trusted, since our own code made it; what comes in is checked by `decodeMessage`. */
export function toEnvelope<S extends z.ZodType>(
  definition: MessageDefinition<S>,
  attributes: EnvelopeAttributes,
  data: z.input<S>,
): Envelope<z.input<S>> {
  const type = typeOf(definition);
  // Key by key: spreading attributes here would cost three times as much, and every message has them. None can be
  // forgotten: the type names them all.
  const envelope: Envelope<z.input<S>> & Record<keyof EnvelopeAttributes, unknown> = {
    specversion: '1.0',
    type,
    datacontenttype: 'application/json',
    dataschema: schemaUrn(type),
    id: attributes.id,
    source: attributes.source,
    subject: attributes.subject,
    time: attributes.time,
    tenantid: attributes.tenantid,
    taskid: attributes.taskid,
    stepid: attributes.stepid,
    attempt: attributes.attempt,
    claimid: attributes.claimid,
    candidateid: attributes.candidateid,
    causationid: attributes.causationid,
    epoch: attributes.epoch,
    sequence: attributes.sequence,
    data,
  };
  if (definition.minReader < definition.version) envelope.minreader = definition.minReader;
  return envelope;
}

export function encodeMessage<S extends z.ZodType>(
  definition: MessageDefinition<S>,
  attributes: EnvelopeAttributes,
  data: z.input<S>,
): Uint8Array {
  return encoder.encode(JSON.stringify(toEnvelope(definition, attributes, data)));
}

/**
 * Bytes → checked envelope of one of `definitions`. Throws `AppError`: `UNPARSEABLE` (no JSON, or more of it than
 * `MESSAGE_BOUNDS`), `SCHEMA_MISMATCH` (wrong type or shape, with the path), `UNSUPPORTED_VERSION` (newer than this
 * reader may read; nothing is wrong with the message).
 */
export function decodeMessage<M extends MessageDefinition>(
  definitions: readonly M[],
  bytes: Uint8Array,
): { definition: M; envelope: Envelope<DataOf<M>> } {
  return check(definitions, parseJson(bytes, 'body', MESSAGE_BOUNDS));
}

/**
 * Like `decodeMessage`, for what a service sends: a reply or command may hold stored or collected values, however many.
 */
export function decodeFromService<M extends MessageDefinition>(
  definitions: readonly M[],
  bytes: Uint8Array,
): { definition: M; envelope: Envelope<DataOf<M>> } {
  return check(definitions, parseJson(bytes));
}

function check<M extends MessageDefinition>(
  definitions: readonly M[],
  value: unknown,
): { definition: M; envelope: Envelope<DataOf<M>> } {
  const parsed = checkJson(Envelope, value);
  if (!parsed.success) throw mismatch('envelope', parsed.error);
  const envelope = parsed.data;
  const dot = envelope.type.lastIndexOf('.v');
  const name = envelope.type.slice(0, dot);
  const version = Number(envelope.type.slice(dot + 2));
  const definition = definitions.find((candidate) => candidate.name === name);
  if (definition === undefined) {
    const known = definitions.map(typeOf).join(', ');
    throw new AppError('SCHEMA_MISMATCH', `type "${envelope.type}" is not read here: send one of ${known}`);
  }
  const current = toCurrent(definition, version, envelope);
  const data = checkJson(definition.data, current);
  if (!data.success) throw mismatch('data', data.error, current);
  return { definition, envelope: { ...envelope, data: data.data as DataOf<M> } };
}

function toCurrent(definition: MessageDefinition, version: number, envelope: Envelope): unknown {
  if (version > definition.version) {
    if (envelope.minreader !== undefined && envelope.minreader <= definition.version)
      return dropUnknown(definition, envelope.data);
    throw new AppError(
      'UNSUPPORTED_VERSION',
      `${envelope.type} is newer than this reader (${typeOf(definition)}): upgrade the reader`,
    );
  }
  let data = envelope.data;
  for (let from = version; from < definition.version; from++) {
    const upcast = definition.upcasters[from];
    if (upcast === undefined)
      throw new AppError('SCHEMA_MISMATCH', `no upcaster ${definition.name} v${from}→v${from + 1}`);
    try {
      data = upcast(data);
    } catch (error) {
      throw toAppError(error, 'SCHEMA_MISMATCH');
    }
  }
  return data;
}

/** Drops the keys that a strict schema of an older reader reports as unknown, at any depth, then validates again. */
function dropUnknown(definition: MessageDefinition, data: unknown): unknown {
  const copy: unknown = structuredClone(data);
  const result = definition.data.safeParse(copy);
  if (result.success) return copy;
  for (const issue of result.error.issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    let holder: unknown = copy;
    for (const key of issue.path) holder = (holder as Record<PropertyKey, unknown>)[key];
    for (const key of issue.keys) delete (holder as Record<string, unknown>)[key];
  }
  return copy;
}

/** A zod error as one `SCHEMA_MISMATCH` whose message names each field. `value` is what was checked. */
export function mismatch(what: string, error: z.ZodError, value?: unknown): AppError {
  const issues = error.issues
    .slice(0, 10)
    // A key may be as long as the body, and a message may quote every one of them.
    .map((issue) => ({
      path: toStorableText([what, ...issue.path.map(String)].join('.'), 300),
      message: toStorableText(issueWords(issue, value), 500),
    }));
  const text = issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ');
  return new AppError('SCHEMA_MISMATCH', toStorableText(text, 2_000), { details: { issues } });
}
