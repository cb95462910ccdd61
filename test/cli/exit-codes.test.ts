import { expect, test } from 'vitest';
import { slate } from './slate.ts';

// What leads to which code is tested in packages/cli; here, that the real program ends with it.
const NOWHERE = { NATS_URL: 'nats://127.0.0.1:9', NATS_PASSWORD: 'x' };

test.each<[code: number, args: string[], stdin: string, says: string]>([
  [0, ['--help'], '', 'Usage: slate'],
  [2, ['nonsense'], '', 'unknown command'],
  [2, ['submit', 'noop', '--input', '-'], '{"__proto__":1}', '__proto__'],
  [2, ['submit', 'noop', '--input', '-'], '', 'empty'],
  [3, ['submit', 'noop', '--input', '-'], '{}', 'check NATS_URL'],
  [3, ['submit', 'noop'], '', 'check NATS_URL'],
])('exit %i: slate %j', async (code, args, stdin, says) => {
  const ran = await slate(args, NOWHERE, stdin);
  expect(ran.code, ran.stderr).toBe(code);
  expect(ran.stdout + ran.stderr).toContain(says);
});
