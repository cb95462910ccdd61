import type { Msg } from '@nats-io/nats-core';
import { MsgImpl } from '@nats-io/nats-core/internal';
import { describe, expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';
import { encodeHeaders, toReceivedHeaders } from './headers.ts';
import { toNatsServerConfig } from './nats-server-config.ts';
import { parsePubAnswer } from './pub-ack.ts';
import { PulledMessage, parseAckSubject } from './pulled-message.ts';

describe('ack subjects', () => {
  test('both forms are read', () => {
    const expected = { stream: 'COMMANDS', durable: 'work-x', deliveries: 3, streamSequence: 17 };
    expect(parseAckSubject('$JS.ACK.COMMANDS.work-x.3.17.9.1700000000000000000.5')).toEqual(expected);
    expect(parseAckSubject('$JS.ACK._.hash.COMMANDS.work-x.3.17.9.1700000000000000000.5')).toEqual(expected);
    expect(parseAckSubject('$JS.ACK.hub.hash.COMMANDS.work-x.3.17.9.1700000000000000000.5.rnd')).toEqual(expected);
  });

  test('hold when the broker took the message, by its clock', () => {
    for (const reply of [
      '$JS.ACK.S.d.3.17.9.1700000000123456789.5',
      '$JS.ACK._.hash.S.d.3.17.9.1700000000123456789.5',
    ]) {
      const message = new PulledMessage({ soon: () => undefined }, { reply } as Partial<Msg> as Msg, () => undefined);
      expect(message.storedAt).toBe(1_700_000_000_123);
    }
  });

  test.each(['', '_INBOX.x.1', '$JS.ACK.a.b.c', '$JS.ACK.COMMANDS.work-x.x.17.9.1.5'])('%j is none', (reply) => {
    expect(() => parseAckSubject(reply)).toThrow(/not a message of a stream/);
  });
});

test.each([
  ['{"stream":"EVENTS", "seq":17}', { seq: 17, duplicate: false }],
  ['{"stream":"EVENTS","seq":17}', { seq: 17, duplicate: false }],
  ['{"stream":"EVENTS","domain":"hub", "seq":17}', { seq: 17, duplicate: false }],
  ['{"stream":"EVENTS", "seq":17,"duplicate": true}', { seq: 17, duplicate: true }],
])('the PubAck %s', (text, ack) => {
  const message = { data: Buffer.from(text), string: () => text } as Partial<Msg> as Msg;
  expect(parsePubAnswer(message)).toEqual({ kind: 'stored', ack });
});

test('back-off grows, is bounded and jittered', () => {
  const options = { firstMs: 100, maxMs: 1_000 };
  expect([1, 2, 3, 9, 2_000].map((failures) => backoffMs(failures, options, () => 1))).toEqual([
    100, 200, 400, 1_000, 1_000,
  ]);
  expect(backoffMs(1, options, () => 0)).toBe(50);
});

test('header values that break the protocol are refused', () => {
  for (const value of ['a\r\nX: y', 'a\nb', 'a\0']) expect(() => encodeHeaders({ name: value })).toThrow(/one line/);
  for (const name of ['', 'a b', 'a:b', 'ä']) expect(() => encodeHeaders({ [name]: 'x' })).toThrow(/printable/);
});

describe('headers of a message that came', () => {
  const block = 'NATS/1.0\r\nCs-Step: analyze\r\nStep: other\r\nTwice:a\r\nTwice: b\r\nEmpty:\r\nKind:  é: x \r\n\r\n';
  const message = (text: string, body: string): Msg => {
    const bytes = Buffer.from(`${text}${body}`);
    const hdr = text === '' ? -1 : Buffer.byteLength(text);
    const none = new Uint8Array(0);
    return new MsgImpl({ subject: none, reply: none, sid: 1, hdr, size: bytes.length }, bytes, {
      publish: () => undefined,
    }) as Msg;
  };

  test.each([
    ['Cs-Step', 'analyze'],
    ['Step', 'other'],
    ['Twice', 'a'],
    ['Empty', ''],
    ['Kind', 'é: x'],
    ['cs-step', ''],
    ['NATS/1.0', ''],
    ['Body', ''],
  ])('%s is %j, as the client itself reads it', (name, value) => {
    const got = message(block, '\r\nBody: 1\r\n');
    expect(toReceivedHeaders(got).get(name)).toBe(value);
    expect(got.headers?.get(name)).toBe(value);
  });

  test('a message without headers has none, whatever its body says', () => {
    expect(toReceivedHeaders(message('', '\r\nCs-Step: x\r\n')).get('Cs-Step')).toBe('');
    expect(toReceivedHeaders(message(block, '')).toRecord()).toMatchObject({ Twice: ['a', 'b'] });
  });
});

test('the server configuration refuses passwords it can not hold and names given twice', () => {
  const config = (password: string, n = 1) =>
    toNatsServerConfig({ roles: [], principals: Array(n).fill({ principal: { kind: 'scheduler' }, password }) });
  expect(() => config('short')).toThrow(/at least 8/);
  expect(() => config('with blanks in it')).toThrow(/without blanks/);
  expect(() => config('long-enough', 2)).toThrow(/twice/);
  expect(config('qu"ote\\d-$x')).toContain('password: "qu\\"ote\\\\d-$x"');
});
