import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findSecrets, hideKnown, hideSecrets } from './known-secrets.ts';
import { createLogger } from './logger.ts';
import { toSafeError } from './safe-error.ts';

const SECRET = 'C4nary+/"\\$.*[x](日本)';
hideSecrets([SECRET, '.*', '', 'a', '.*.*.*']);

function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(createLogger({ service: 's', level: 'debug', destination: { write: (line) => void lines.push(line) } }));
  return lines.join('');
}

describe('G12: a known secret', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  test.each([
    ['as it is', `failed with ${SECRET}.`],
    ['percent-encoded', `https://x/?key=${encodeURIComponent(SECRET)}`],
    ['in base64, alone', base64(SECRET)],
    ['in base64, behind a user', base64(`user:${SECRET}`)],
    ['in base64, behind another', base64(`us:${SECRET}@host`)],
    ['in JSON', JSON.stringify({ message: SECRET })],
    ['in JSON in JSON', JSON.stringify(JSON.stringify({ message: SECRET }))],
    ['split by a line break', `${SECRET.slice(0, 5)}\n${SECRET.slice(5)}`],
  ])('%s', (_, text) => {
    const hidden = hideKnown(text);
    expect(hidden).toContain('[redacted]');
    for (const part of [SECRET, SECRET.slice(0, 5), base64(SECRET).slice(4, 12)]) expect(hidden).not.toContain(part);
  });

  test('is in no log line, whatever way it takes there', () => {
    const error = new Error('outer', { cause: new AggregateError([], `inner ${SECRET}`) });
    const text = logged((logger) => {
      logger.info({ [SECRET]: 1, list: [SECRET], deep: { deeper: { deepest: SECRET } } }, `said ${SECRET}`);
      logger.error({ err: error, url: `//user:${SECRET}@host` });
      logger.debug({ headers: { authorization: `Basic ${base64(`u:${SECRET}`)}` } });
    });
    expect(text.split('\n').filter((line) => line !== '')).toHaveLength(3);
    for (const line of text.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(JSON.stringify(SECRET).slice(1, -1));
    expect(text).not.toContain('C4nary');
  });

  test('is whole where an error’s text is cut', () => {
    const { message } = toSafeError(new Error(`${'x'.repeat(4_090)}${SECRET}${'y'.repeat(9_000)}`));
    expect(message).not.toContain(SECRET.slice(0, 4));
  });

  test('that is short, empty or a pattern destroys nothing else', () => {
    expect(hideKnown('a cat sat on a mat .* and left')).toBe('a cat sat on a mat .* and left');
    expect(hideKnown('x .*.*.* y')).toBe('x [redacted] y');
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        if (!text.includes('.*.*.*') && !text.includes('C4n')) expect(hideKnown(text)).toBe(text);
      }),
    );
  });
});

test('an environment’s secrets are known by their names, and by where they stand in a URL', () => {
  const env = {
    NATS_PASSWORD: 'one',
    OPENAI_API_KEY: 'two',
    SESSION_SECRET: 'three',
    GITHUB_TOKEN: 'four',
    LOG_LEVEL: 'info',
    DATABASE_URL: 'postgres://user:fi%2Fve@host/db',
    NATS_URL: 'nats://u:six@a:4222, nats://b:4222',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20seven,x=eight',
  };
  expect(findSecrets(env).sort()).toEqual(
    ['one', 'two', 'three', 'four', 'fi/ve', 'six', 'Bearer seven', 'eight'].sort(),
  );
});
