import type { PulledMessage } from '@cleanslate/bus';
import type { StepRun } from '@cleanslate/contracts';
import type { Claim } from './claim.ts';
import { readCommand } from './doorbell.ts';
import type { FinishAnswer, FinishDesk, Succeeded } from './finish-desk.ts';
import { runStep, type StepResult, type StepRunnerOptions } from './step-runner.ts';

/** Well below the doorbell's ack wait: until then nobody else is given it. */
const STILL_MS = 1_000;

export type EarlyRun = Promise<StepResult>;

/**
 * Runs attempts of `pure` executors before their claims are granted: what they compute counts only with the claim, and
 * two runs do no harm. Only at a doorbell's first delivery: an attempt that took its worker down comes again, and must
 * then be claimed first, since a crash loop is counted by claims.
 */
export class EarlyRuns {
  readonly #runner: StepRunnerOptions;
  readonly #desk: FinishDesk;
  readonly #hasPure: boolean;

  constructor(runner: StepRunnerOptions, desk: FinishDesk) {
    this.#runner = runner;
    this.#desk = desk;
    this.#hasPure = [...runner.executors.values()].some((executor) => executor.pure);
  }

  /** Undefined if the claim has to come first. */
  begin(claim: Claim, message: PulledMessage): EarlyRun | undefined {
    if (!this.#hasPure || message.deliveries > 1 || !this.#desk.open) return undefined;
    let command: StepRun;
    try {
      command = readCommand(message.data, claim.fence);
    } catch {
      // Whoever holds the claim reports what can't be read.
      return undefined;
    }
    if (this.#runner.executors.get(command.executor)?.pure !== true) return undefined;
    return runStep(this.#runner, claim, message, command);
  }

  /**
   * Its outcome; undefined if it takes longer than a quick one: then it asks for its claim first, like any other, so
   * that lease and timeout run.
   */
  unlessSlow(run: EarlyRun): Promise<StepResult | undefined> {
    const { slow } = this.#runner;
    return new Promise((resolve, reject) => {
      const watched = slow.watch(() => resolve(undefined));
      run.then((result) => {
        slow.forget(watched);
        resolve(result);
      }, reject);
    });
  }

  /**
   * Hands in a quick success together with the request for its claim. Unanswered: the claim has to be asked for. Never
   * rejects.
   */
  handIn(claim: Claim, report: Succeeded): Promise<FinishAnswer> {
    return this.#desk.hand(claim, report);
  }
}

/**
 * Its claim was not granted. The run that went ahead ends, or is abandoned, before the doorbell goes back and the slot
 * is free: otherwise an executor that ignores its signal would run in more places than there are slots.
 */
export async function callOff(claim: Claim, message: PulledMessage, run: EarlyRun | undefined): Promise<void> {
  claim.stop('lost');
  if (run === undefined) return;
  const waiting = setInterval(() => message.working(), STILL_MS);
  await run;
  clearInterval(waiting);
}
