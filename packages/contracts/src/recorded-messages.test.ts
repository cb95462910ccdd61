import { CloudEvent, type CloudEventV1, HTTP } from 'cloudevents';
import { describe, expect, it } from 'vitest';
import { readRecordedMessages } from '../scripts/recorded-messages.ts';
import { decodeMessage, type Json, listMessages, schemaUrn, typeOf } from './index.ts';

const recorded = readRecordedMessages();
const current = new Set(listMessages().map(typeOf));
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const parse = (bytes: Uint8Array) => JSON.parse(textOf(bytes)) as CloudEventV1<Json>;

it('every message of the catalogue was recorded', () => {
  const types = new Set(recorded.map((message) => message.type));
  expect(
    listMessages()
      .map(typeOf)
      .filter((type) => !types.has(type)),
  ).toEqual([]);
});

it('no file has another name than the message in it', () => {
  expect(recorded.filter(({ type, bytes }) => parse(bytes).type !== type)).toEqual([]);
});

describe.each(recorded.map((message) => [message.name, message] as const))('%s', (_name, { type, bytes }) => {
  const event = parse(bytes);

  it('is read by today’s reader', () => {
    const { definition, envelope } = decodeMessage([...listMessages()], bytes);
    expect(type.startsWith(`${definition.name}.v`)).toBe(true);
    if (typeOf(definition) === type) expect(envelope).toEqual(event);
    expect(event.dataschema).toBe(schemaUrn(type));
  });

  it('is a CloudEvent by the official package, strictly', () => {
    const parsed = new CloudEvent(event, true);
    expect(parsed.validate()).toBe(true);
    expect(JSON.parse(JSON.stringify(parsed))).toEqual(event);
  });

  it('is received by the official package from an HTTP body in structured mode', () => {
    const headers = { 'content-type': 'application/cloudevents+json; charset=utf-8' };
    expect(HTTP.isEvent({ headers, body: textOf(bytes) })).toBe(true);
    const received = HTTP.toEvent<Json>({ headers, body: textOf(bytes) });
    if (!(received instanceof CloudEvent)) throw new Error('not one event');
    expect(received.validate()).toBe(true);
    expect(JSON.parse(JSON.stringify(received))).toEqual(event);
  });

  // Each message's own reader, one version behind: whatever a newer sender adds, at whatever depth, must not stop it.
  // What an older version says has its newer one recorded beside it.
  if (current.has(type))
    it('is read by an older reader when a newer sender has added keys everywhere', () => {
      const newer = type.replace(/\d+$/, (version) => String(Number(version) + 1));
      const data = addKeys(event.data);
      const minreader = Number(/\d+$/.exec(type)?.[0]);
      const encode = (envelope: object) => new TextEncoder().encode(JSON.stringify(envelope));
      const { envelope } = decodeMessage([...listMessages()], encode({ ...event, type: newer, minreader, data }));
      expect(dropKeys(envelope.data)).toEqual(event.data);
      expect(Object.keys(envelope.data as object)).toEqual(Object.keys(event.data as object));
      expect(() => decodeMessage([...listMessages()], encode({ ...event, data }))).toThrow(/added/);
    });
});

function addKeys(value: unknown): unknown {
  return mapObjects(value, (entries) => [...entries, ['added', ['by a newer sender']]]);
}
/** Free-form objects (inputs, results, headers) keep what they get. */
function dropKeys(value: unknown): unknown {
  return mapObjects(value, (entries) => entries.filter(([key]) => key !== 'added'));
}

function mapObjects(value: unknown, change: (entries: [string, unknown][]) => [string, unknown][]): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, mapObjects(item, change)]);
  return Object.fromEntries(change(entries));
}
