import { type Bus, type Served, serve } from '@cleanslate/bus';
import { startTestBroker } from '@cleanslate/bus/testing';
import { AppError, decodeMessage, encodeMessage, ModelCallAsk, ModelCallReply } from '@cleanslate/contracts';
import { startNatsServer } from '@cleanslate/infra';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newWorkerIdentity } from '../worker/identity.ts';
import { ModelDesk } from './model-desk.ts';

type Answer = ModelCallReply | 'silence';

let broker: Awaited<ReturnType<typeof startTestBroker>>;
let buses: { readonly scheduler: Bus; readonly worker: Bus };
let served: Served;
let answer: (ask: ModelCallAsk) => Answer;
const asks: ModelCallAsk[] = [];

beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
  buses = {
    scheduler: await broker.connect({ kind: 'scheduler' }),
    worker: await broker.connect({ kind: 'worker', role: 'analyzer' }),
  };
});
afterAll(() => broker?.[Symbol.asyncDispose]());
beforeEach(() => {
  asks.length = 0;
  served = serve(buses.scheduler, 'mdl.*', 'scheduler', async ({ body }) => {
    const { envelope } = decodeMessage([ModelCallAsk], body);
    asks.push(envelope.data);
    const said = answer(envelope.data);
    if (said === 'silence') return await new Promise<Uint8Array>(() => undefined);
    const attributes = { id: `${envelope.id}.reply`, source: '/services/scheduler', time: new Date().toISOString() };
    return encodeMessage(ModelCallReply, { ...attributes, tenantid: envelope.tenantid }, said);
  });
});
afterEach(() => {
  // One that is never answered keeps it from stopping; the next one has a queue group of the same name.
  void served.stop();
});

const attempt = { epoch: 1, tenantId: 'acme', taskId: 'task-1', stepId: 'ask', attempt: 1 };
const call = { model: 'm', purpose: 'p', attempt, tokens: 100 };
const granted = (more: { leaseMs?: number; bounded?: boolean } = {}): ModelCallReply => ({
  answer: 'granted',
  leaseMs: 600,
  bounded: true,
  ...more,
});
const done: ModelCallReply = { answer: 'done', lost: [] };
const wait: ModelCallReply = { answer: 'wait', limit: '1 requests at once of model "m"', retryInMs: 50 };
const never = new AbortController().signal;
const USED = { promptTokens: 7, completionTokens: 3, requests: 1 };

function openDesk(maxWaitMs = 2_000, askForMs = 4_000): ModelDesk {
  const identity = newWorkerIdentity('analyzer');
  return new ModelDesk({ bus: buses.worker, identity, onFailure: () => undefined, maxWaitMs, askForMs });
}

const rejection = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it was granted'),
    (error: unknown) => error as AppError,
  );

describe('the right to a model call', () => {
  test('is renewed while the call runs, and settled with what it used', async () => {
    answer = ({ ask }) => (ask === 'reserve' ? granted({ leaseMs: 5_000 }) : done);
    const lease = await openDesk().reserve(call, never);
    await expect.poll(() => asks.filter(({ ask }) => ask === 'renew').length, { timeout: 60_000 }).toBeGreaterThan(1);
    expect(lease.signal.aborted).toBe(false);
    await lease.settle(USED);
    expect(asks.at(-1)).toMatchObject({ ask: 'settle', promptTokens: 7, completionTokens: 3, attempt });
    const renewals = asks.length;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(asks).toHaveLength(renewals);
  });

  test.each([
    [
      'is said to be lost',
      ({ ask, ...rest }: ModelCallAsk): Answer =>
        ask === 'reserve' ? granted() : { answer: 'done', lost: 'callIds' in rest ? rest.callIds : [] },
    ],
    ['can’t be renewed', ({ ask }: ModelCallAsk): Answer => (ask === 'reserve' ? granted() : 'silence')],
  ])('where it %s, a call is broken off before another may begin; one without a limit goes on', async (_, script) => {
    answer = script;
    const startedAt = performance.now();
    const bounded = await openDesk().reserve(call, never);
    await expect.poll(() => bounded.signal.aborted, { timeout: 60_000 }).toBe(true);
    expect(bounded.signal.reason).toMatchObject({ code: 'MODEL_UNAVAILABLE', disposition: 'pause' });
    const brokenOffAfter = performance.now() - startedAt;
    answer = (asked) => (asked.ask === 'reserve' ? granted({ bounded: false }) : script(asked));
    const free = await openDesk().reserve(call, never);
    await new Promise((resolve) => setTimeout(resolve, brokenOffAfter));
    expect(free.signal.aborted).toBe(false);
  });

  test('an answer that got lost is asked for again with the same id', async () => {
    let first = true;
    answer = ({ ask }) => {
      if (ask !== 'reserve') return done;
      const lost = first;
      first = false;
      return lost ? 'silence' : granted();
    };
    await (await openDesk().reserve(call, never)).settle(USED);
    const reserved = asks.filter((each) => each.ask === 'reserve');
    expect(reserved).toHaveLength(2);
    expect(new Set(reserved.map(({ callId }) => callId)).size).toBe(1);
  });

  test('many who wait stand in one line: only the first asks, and a place that is given up here is taken at once', async () => {
    let open = 0;
    answer = (asked) => {
      if (asked.ask === 'reserve')
        return open >= 1 ? { ...wait, retryInMs: 60_000 } : granted({ leaseMs: 60_000 * ++open });
      if (asked.ask === 'settle') open--;
      return done;
    };
    const desk = openDesk(600_000);
    const order: number[] = [];
    const calls = Array.from({ length: 6 }, async (_, n) => {
      const lease = await desk.reserve(call, never);
      order.push(n);
      await lease.settle(USED);
    });
    await Promise.all(calls);
    expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(asks.filter(({ ask }) => ask === 'reserve').length).toBeLessThan(20);
  });

  test('a wait that takes too long is handed back with a due time; what it may have been granted is given back', async () => {
    answer = ({ ask }) => (ask === 'reserve' ? wait : done);
    const error = await rejection(openDesk(300).reserve(call, never));
    expect(error).toMatchObject({
      code: 'MODEL_BUDGET_SPENT',
      disposition: 'pause',
      message: expect.stringContaining('1 requests at once'),
    });
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(5_000);
  });

  test('who gives up settles what went unanswered: it may be granted yet', async () => {
    let silent = true;
    answer = ({ ask }) => {
      if (ask !== 'reserve') return done;
      const said = silent ? 'silence' : wait;
      silent = false;
      return said;
    };
    expect(await rejection(openDesk(4_000, 60_000).reserve(call, never))).toMatchObject({ code: 'MODEL_BUDGET_SPENT' });
    const [reserved] = asks.flatMap((asked) => (asked.ask === 'reserve' ? [asked.callId] : []));
    const settled = () => asks.flatMap((asked) => (asked.ask === 'settle' ? [asked.callId] : []));
    await expect.poll(settled, { timeout: 20_000 }).toContain(reserved);
  }, 60_000);

  test('a cancel while it waits rejects at once', async () => {
    answer = ({ ask }) => (ask === 'reserve' ? wait : done);
    const stop = new AbortController();
    const asked = rejection(openDesk(60_000).reserve(call, stop.signal));
    await expect.poll(() => asks.length).toBeGreaterThan(1);
    const cancelledAt = performance.now();
    stop.abort(new AppError('CANCELLED', 'by a person'));
    expect(await asked).toMatchObject({ code: 'CANCELLED' });
    expect(performance.now() - cancelledAt).toBeLessThan(10_000);
    await expect.poll(() => asks.some(({ ask }) => ask === 'settle')).toBe(true);
  });

  test('while nobody answers it is an outage, not a failure of the step', async () => {
    await served.stop();
    const error = await rejection(openDesk().reserve(call, never));
    expect(error).toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    served = serve(buses.scheduler, 'unused', 'scheduler', () => new Uint8Array());
  });
});
