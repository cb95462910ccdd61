/** What travels between a worker and the ledger. */
export type MessageName =
  | 'submit'
  | 'doorbell'
  | 'claim'
  | 'claim answer'
  | 'heartbeat'
  | 'heartbeat answer'
  | 'report';
/**
 * `drop`: it never arrives and the sender learns that. `lose`: the sender is told that it is
 * stored, and then it is gone.
 */
export type MessageFault = 'drop' | 'lose' | 'duplicate' | { readonly delayMs: number };

/** Where a process touches the outside; it may die right before and right after each. */
export type PortCall = {
  readonly process: 'scheduler' | 'worker';
  readonly call:
    | 'commit'
    | 'publish doorbell'
    | 'answer claim'
    | 'ack report'
    | 'claim'
    | 'ack doorbell'
    | 'run'
    | 'report'
    | 'heartbeat';
  readonly when: 'before' | 'after';
  /** Which one of its kind in this run, from 1. */
  readonly nth: number;
};

/**
 * `fail`: a retryable error. `freeze`: the whole worker stands still for three leases, and
 * goes on as if nothing had been.
 */
export type ExecutorFault = 'fail' | 'freeze' | { readonly takesMs: number };

/** The faults of one run, asked at every point where something may go wrong. */
export type Faults = {
  message(message: MessageName, nth: number): MessageFault | undefined;
  crash(port: PortCall): boolean;
  executor(stepId: string, attempt: number): ExecutorFault | undefined;
};

/** Begins anew with every run, so that one plan can be used for many. */
export type FaultPlan = { readonly name: string; begin(): Faults };

export const noFaults: FaultPlan = {
  name: 'no faults',
  begin: () => ({ message: () => undefined, crash: () => false, executor: () => undefined }),
};

export type Fault =
  | { readonly message: MessageName; readonly does: MessageFault /** Default 1. */; readonly nth?: number }
  | ({ readonly crash: PortCall['process'] } & Omit<PortCall, 'process' | 'nth'> & {
        /** Default 1. */ readonly nth?: number;
      })
  | { readonly executor: string; readonly does: ExecutorFault /** Default 1. */; readonly attempt?: number };

/** Exactly these: `faultPlan({ message: 'report', does: 'lose' }, { crash: 'worker', when: 'after', call: 'run' })`. */
export function faultPlan(...faults: readonly Fault[]): FaultPlan {
  return {
    name: JSON.stringify(faults),
    begin: () => ({
      message: (name, nth) =>
        faults.flatMap((fault) =>
          'message' in fault && fault.message === name && (fault.nth ?? 1) === nth ? [fault.does] : [],
        )[0],
      crash: ({ process, call, when, nth }) =>
        faults.some(
          (fault) =>
            'crash' in fault &&
            fault.crash === process &&
            fault.call === call &&
            fault.when === when &&
            (fault.nth ?? 1) === nth,
        ),
      executor: (stepId, attempt) =>
        faults.flatMap((fault) =>
          'executor' in fault && fault.executor === stepId && (fault.attempt ?? 1) === attempt ? [fault.does] : [],
        )[0],
    }),
  };
}

export type RandomFaultOptions = {
  readonly seed: number;
  /** Of each message, port call and execution to go wrong. Default 0.15. */
  readonly chance?: number;
  /** After so many all goes well: a world in which nothing ever works lets nothing end. Default 25. */
  readonly atMost?: number;
};

/** Anything anywhere, by chance; the same seed, the same faults. */
export function randomFaults({ seed, chance = 0.15, atMost = 25 }: RandomFaultOptions): FaultPlan {
  return { name: `seed ${seed}`, begin: () => drawFaults(seed, chance, atMost) };
}

function drawFaults(seed: number, chance: number, atMost: number): Faults {
  const random = randomOf(seed);
  let left = atMost;
  const strikes = (weight = 1) => {
    const struck = left > 0 && random() < chance * weight;
    if (struck) left--;
    return struck;
  };
  const oneOf = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const delay = () => ({ delayMs: Math.floor(random() ** 3 * 60_000) });
  return {
    message: () => (strikes() ? oneOf([oneOf(['drop', 'lose', 'duplicate'] as const) ?? 'drop', delay()]) : undefined),
    // Each port call is asked about twice, and there are many of them.
    crash: () => strikes(0.2),
    executor: () =>
      strikes() ? oneOf<ExecutorFault>(['fail', 'freeze', { takesMs: Math.floor(random() * 20_000) }]) : undefined,
  };
}

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
