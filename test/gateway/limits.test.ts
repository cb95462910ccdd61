import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, type GatewayPlatform, startWithGateway } from './platform.ts';

let world: GatewayPlatform;
beforeAll(async () => {
  world = await startWithGateway(['gateway'], { RATE_PER_SECOND: '1', RATE_BURST: '5', TRUST_PROXY: 'loopback' });
});
afterAll(async () => {
  await world?.platform[Symbol.asyncDispose]();
});

const list = (tenant: string) => fetch(`${world.url()}/v1/tasks`, { headers: bearer(tenant) });

test('one tenant’s flood is told to wait, another’s request is answered; no other origin may ask', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => list('acme')));
  const refused = answers.filter(({ status }) => status === 429);
  // Whatever a slow machine let drip in meanwhile, most of them came at once.
  expect(refused.length).toBeGreaterThanOrEqual(10);
  const [first] = refused;
  expect(Number(first?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await first?.json()).toMatchObject({ code: 'RATE_LIMITED', remedy: expect.stringContaining('Retry-After') });
  const other = await list('globex');
  expect(other.status).toBe(200);
  // By default there is no origin that may.
  expect(other.headers.get('access-control-allow-origin')).toBeNull();
  expect(other.headers.get('cross-origin-resource-policy')).toBe('same-origin');
});

test('who tries many keys is told to wait, without the database being asked; who has one is not', async () => {
  const guess = (n: number) =>
    fetch(`${world.url()}/v1/tasks`, { headers: { authorization: `Bearer csk_guess_${n}_${n}` } });
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => guess(n)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(50);
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(50);
  expect((await list('globex')).status).toBe(200);
});

test('behind a trusted proxy who asks is whom it names: one client’s guesses are not another’s', async () => {
  const guess = (client: string, n: number) =>
    fetch(`${world.url()}/v1/tasks`, {
      headers: { authorization: `Bearer csk_other_${client}_${n}`, 'x-forwarded-for': client },
    });
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => guess('203.0.113.1', n)));
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(50);
  const others = await Promise.all(Array.from({ length: 20 }, (_, n) => guess('203.0.113.2', n)));
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 401));
});
