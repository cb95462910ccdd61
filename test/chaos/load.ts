import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@cleanslate/client';
import { isAppError } from '@cleanslate/contracts';
import { type CompiledWorkflow, defineWorkflow } from '@cleanslate/domain';
import { z } from 'zod';
import { Script } from '../fixtures/script.ts';
import type { Pick } from './random.ts';

/**
 * `chain`: four steps, some of which fail once, some with candidates. `pure`: three that may run before their claims.
 * `judged`: sent back once, passed in round 2. `doomed`: fails for good in its second step. `cancelled`: cancelled at
 * some moment, maybe too late.
 */
export type Kind = 'chain' | 'pure' | 'judged' | 'doomed' | 'cancelled';
export type Sent = { readonly kind: Kind; readonly taskId: string; readonly candidates: number };

const work = { role: 'analyzer', executor: 'scripted/work', retry: { maxAttempts: 100, baseMs: 50, maxMs: 200 } };
const input = { script: 'input.script', feedback: 'feedback' };
const compute = { ...work, executor: 'scripted/compute' };

/** More attempts than faults: what fails, fails because it should. */
export const CHAOS_WORKFLOWS: readonly CompiledWorkflow[] = [
  defineWorkflow({
    name: 'chaos-judged',
    input: z.strictObject({ script: Script }),
    result: 'steps.make.output',
    steps: {
      make: { ...work, input },
      judge: {
        ...work,
        executor: 'scripted/judge',
        after: ['make'],
        input: { script: 'input.script', made: 'steps.make.output' },
      },
    },
    validation: { step: 'judge', rework: ['make'], maxRounds: 3 },
  }),
  defineWorkflow({
    name: 'chaos-pure',
    input: z.strictObject({ n: z.int() }),
    result: 'steps.three.output.n',
    steps: {
      one: { ...compute, input: { n: 'input.n' } },
      two: { ...compute, after: ['one'], input: { n: 'steps.one.output.n' } },
      three: { ...compute, after: ['two'], input: { n: 'steps.two.output.n' } },
    },
  }),
  defineWorkflow({
    name: 'chaos-doomed',
    input: z.strictObject({ script: Script, doom: Script }),
    result: 'steps.fail.output',
    steps: {
      work: { ...work, input },
      fail: { ...work, after: ['work'], input: { script: 'input.doom', feedback: 'feedback' } },
    },
  }),
];

const DOOM: Script = { failFirst: 1_000, failWith: { code: 'EXECUTOR_FAILED', disposition: 'terminal' } };

export type LoadOptions = {
  readonly client: Client;
  readonly pick: Pick;
  /** By `performance.now()`. */
  readonly untilMs: number;
  readonly perSecond: number;
  readonly name: string;
  /** Accepted tasks that have not ended; rejects while the database is away. */
  readonly backlog: () => Promise<number>;
};

const BATCH_MS = 500;
/**
 * Seconds of load that may be unanswered, or accepted and unfinished: what is tested is faults, not how
 * much a busy machine can take.
 */
const PATIENCE_S = 20;

/** Submits at a steady rate, through whatever happens; returns what was accepted, which is all of it. */
export async function runLoad(options: LoadOptions): Promise<readonly Sent[]> {
  const { client, pick, untilMs, perSecond, name, backlog } = options;
  const sent: Promise<Sent>[] = [];
  let open = 0;
  while (performance.now() < untilMs) {
    const waiting = open + (await backlog().catch(() => 0));
    for (let i = 0; i < (perSecond * BATCH_MS) / 1_000 && waiting < perSecond * PATIENCE_S; i++) {
      open++;
      sent.push(send(client, pick, `${name}-${sent.length}`).finally(() => open--));
    }
    await sleep(BATCH_MS);
  }
  return Promise.all(sent);
}

async function send(client: Client, pick: Pick, key: string): Promise<Sent> {
  const kind = kindOf(pick(20));
  const script = { sleepMs: pick(60), failFirst: pick(8) === 0 ? 1 : 0, unfenced: true };
  const candidates = kind === 'chain' && pick(10) === 0 ? 1 : 0;
  const cancelAfterMs = pick(400);
  const { taskId } = await persist(() => client.submit({ ...requestOf(kind, { ...script, candidates }), key }));
  if (kind === 'cancelled') {
    await sleep(cancelAfterMs);
    await persist(() => client.cancel(taskId, 'chaos'));
  }
  return { kind, taskId, candidates };
}

function kindOf(drawn: number): Kind {
  if (drawn < 12) return 'chain';
  if (drawn < 15) return 'pure';
  if (drawn < 17) return 'judged';
  return drawn === 17 ? 'doomed' : 'cancelled';
}

function requestOf(kind: Kind, script: Script) {
  if (kind === 'pure') return { workflow: 'chaos-pure', input: { n: 1 } };
  if (kind === 'judged') return { workflow: 'chaos-judged', input: { script: { ...script, badInRound1: true } } };
  if (kind === 'doomed') return { workflow: 'chaos-doomed', input: { script, doom: DOOM } };
  return { workflow: 'patient', input: { script } };
}

/** As the client's contract asks: after an error that may pass, again. */
async function persist<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isAppError(error) || error.disposition !== 'retryable') throw error;
      await sleep(200);
    }
  }
}
