import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_BODY_BYTES } from '@cleanslate/contracts';
import { checkoutRoot } from '@cleanslate/infra';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

// A document that the command line takes must pass every broker we ship a configuration for.

const read = (path: string) => readFileSync(join(checkoutRoot, path), 'utf8');
const SHIPPED = ['infra/src/nats-config.ts', 'infra/nats.conf', ...globSync('k8s/components/nats*/nats.yaml')].sort();

test('there are four configurations: of the local stack, of Compose, of one server and of three', () => {
  expect(SHIPPED).toHaveLength(4);
});

test.each(SHIPPED)('%s lets messages through that are as large as any reader takes', (path) => {
  const [, megabytes] = /^\s*max_payload: ([0-9]+)MB$/m.exec(read(path)) ?? [];
  expect(Number(megabytes) * 1024 * 1024).toBe(MAX_BODY_BYTES);
});

test('Compose starts its broker with that configuration, and with the logins that `slate secrets compose` writes beside it', () => {
  const Compose = z.looseObject({
    services: z.looseObject({ nats: z.looseObject({ command: z.array(z.string()), volumes: z.array(z.string()) }) }),
  });
  const { command, volumes } = Compose.parse(parse(read('infra/compose.yaml'), { merge: true })).services.nats;
  expect(command.slice(command.indexOf('-c'))).toEqual(['-c', '/etc/nats/nats.conf']);
  expect(volumes).toContain('./nats.conf:/etc/nats/nats.conf:ro');
  expect(volumes.some((each) => each.endsWith('/nats-auth/auth.conf:/etc/nats/auth.conf:ro'))).toBe(true);
  expect(read('infra/nats.conf')).toMatch(/^include auth\.conf$/m);
});
