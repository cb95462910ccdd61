import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { databaseConfig, parseConfig, wholeNumber } from './config.ts';
import { workerConfig } from './worker-config.ts';

const env = { NATS_URL: 'nats://127.0.0.1:4222' };

test('defaults, and the result is frozen', () => {
  const config = parseConfig(workerConfig, env);
  expect(config).toMatchObject({
    LOG_LEVEL: 'info',
    HEALTH_HOST: '127.0.0.1',
    HEALTH_PORT: 0,
    GRACE_MS: 25_000,
    SLOTS: 8,
  });
  expect(Object.isFrozen(config)).toBe(true);
});

test('all faults at once, with the variable and the remedy, never a value', () => {
  const secret = 'hunter2-hunter2';
  const schema = workerConfig.extend(databaseConfig);
  const bad = {
    NATS_URL: `http://u:${secret}@x`,
    DATABASE_URL: `${secret}`,
    LOG_LEVEL: secret,
    SLOTS: secret,
    GRACE_MS: ' ',
  };
  const faults = faultsOf(schema, bad);
  expect(faults.map((fault) => fault.split(' ')[0]).sort()).toEqual([
    'DATABASE_URL',
    'GRACE_MS',
    'LOG_LEVEL',
    'NATS_URL',
    'SLOTS',
  ]);
  expect(faults.join()).not.toContain(secret);
  expect(faultsOf(schema, {}).join()).toMatch(
    /NATS_URL is missing: set address of the broker.*DATABASE_URL is missing/,
  );
});

describe('numbers', () => {
  const schema = z.object({ LLM_MAX_RETRIES: wholeNumber({ max: 100 }).describe('tries').optional() });
  test.each(['abc', '', '-1', '1e9', 'NaN', 'Infinity', '1.5', '0x10', '101', ' 5', '99999999999999999999'])(
    '%j is refused',
    (value) => {
      expect(faultsOf(schema, { LLM_MAX_RETRIES: value })).toEqual([expect.stringContaining('LLM_MAX_RETRIES')]);
    },
  );
  test('plain digits in range are taken', () => {
    expect(parseConfig(schema, { LLM_MAX_RETRIES: '7' })).toEqual({ LLM_MAX_RETRIES: 7 });
  });
});

function faultsOf(schema: z.ZodObject, values: Record<string, string>): string[] {
  try {
    parseConfig(schema, values);
  } catch (error) {
    return (error as { details: { faults: string[] } }).details.faults;
  }
  return [];
}
