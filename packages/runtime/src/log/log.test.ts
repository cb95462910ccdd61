import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';
import { toSafeError } from './safe-error.ts';
import { scrub } from './scrub.ts';

test('secrets by key are redacted, errors cut and cleaned', () => {
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => void lines.push(line) } });
  const prompt = `Bearer abcdefghijklmnop ${'p'.repeat(5_000_000)}`;
  logger.error({ err: new Error(prompt), password: 'p1-secret', nested: { token: 'p2-secret' } }, 'failed');
  expect(lines).toHaveLength(1);
  expect(lines[0]?.length).toBeLessThan(10_000);
  expect(lines[0]).not.toMatch(/abcdefghijklmnop|p1-secret|p2-secret/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'error',
    service: 'test',
    password: '[redacted]',
    msg: 'failed',
  });
});

test('a secret is known by its key at any depth, also in what a logger was made with, and nothing else is touched', () => {
  const lines: string[] = [];
  const root = createLogger({ service: 'test', destination: { write: (line) => void lines.push(line) } });
  const logger = root.child({ apiKey: 'c1-secret', bound: { pass: 'c2-secret' } });
  logger.info(
    { a: [{ b: { authorization: { scheme: 'c3-secret' }, secret: null } }], n: 1.5, tokens: 7 },
    'he said "token":',
  );
  logger.info({ text: '{"password":"quoted"}', passed: true });
  expect(lines.join('')).not.toMatch(/c\d-secret/);
  expect(lines.every((line) => line.endsWith('}\n'))).toBe(true);
  const [first, second] = lines.map((line) => JSON.parse(line) as unknown);
  const hidden = { apiKey: '[redacted]', bound: { pass: '[redacted]' } };
  expect(first).toMatchObject({
    ...hidden,
    n: 1.5,
    tokens: 7,
    msg: 'he said "token":',
    a: [{ b: { authorization: '[redacted]', secret: '[redacted]' } }],
  });
  expect(second).toMatchObject({ ...hidden, text: '{"password":"quoted"}', passed: true });
});

test('loggers leave nothing behind in the process, however many there are', () => {
  createLogger({ service: 'test' });
  const before = process.listenerCount('exit');
  for (let n = 0; n < 20; n++) createLogger({ service: 'test' });
  expect(process.listenerCount('exit')).toBe(before);
});

test('hostile errors are survived', () => {
  const circular = new Error('outer');
  circular.cause = circular;
  const throwing = new Proxy(new Error('x'), {
    get: () => {
      throw new Error('no');
    },
  });
  const noString = { toString: () => ({}), valueOf: () => ({}) };
  for (const error of [
    circular,
    throwing,
    noString,
    null,
    undefined,
    7n,
    Symbol('s'),
    Object.create(null),
    'text',
    { message: 5 },
  ]) {
    expect(JSON.stringify(toSafeError(error)).length).toBeLessThan(40_000);
  }
});

test('scrubbing finds the usual shapes and is linear', () => {
  const found = [
    'key sk-abcdefghijklmnop1234',
    'Authorization: Bearer abc.def.ghijklm',
    'postgres://user:hunter2@host/db',
    'nats://u:pa55word@host',
    'api_key="abcd1234efgh"',
    'password=hunter22',
  ];
  for (const text of found) expect(scrub(text)).toContain('[redacted]');
  for (const text of ['the token bucket is full', 'pass the salt', 'https://example.com/a:b'])
    expect(scrub(text)).toBe(text);
  // No clock: a rule that is quadratic would run into the test's own time-out.
  for (const unit of ['sk-', '//a:', 'token: ', 'bearer ', 'password="']) scrub(unit.repeat(400_000 / unit.length));
});
