import type { PulledMessage } from '@cleanslate/bus';
import type { StepRun } from '@cleanslate/contracts';
import type { Claim } from './claim.ts';
import { readCommand } from './doorbell.ts';
import type { FinishAnswer, FinishDesk, Succeeded } from './finish-desk.ts';
import { runStep, type StepResult, type StepRunnerOptions } from './step-runner.ts';

/** Well below the doorbell's ack wait: meanwhile nobody else is given it. */
const STILL_MS = 1_000;

export type EarlyRun = Promise<StepResult>;

/**
 * Runs attempts of `pure` executors before their claims are granted: what they compute counts only with the claim, and two of them do no harm. Only at a doorbell's first
 * delivery: an attempt that took its worker down with it comes again, and has to be claimed then, since claims are what a crash loop is counted by.
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

  /** Undefined where the claim has to come first. */
  begin(claim: Claim, message: PulledMessage): EarlyRun | undefined {
    if (!this.#hasPure || message.deliveries > 1 || !this.#desk.open) return undefined;
    let command: StepRun;
    try {
      command = readCommand(message.data, claim.fence);
    } catch {
      // What can't be read is reported by whoever holds the claim.
      return undefined;
    }
    if (this.#runner.executors.get(command.executor)?.pure !== true) return undefined;
    return runStep(this.#runner, claim, message, command);
  }

  /** What it came to; undefined where it takes longer than a quick one: then it asks for its claim first, as every other, for its lease and its time-out should run. */
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

  /** Hands a quick success in with the question for its claim. Unanswered: the claim has to be asked for. Never rejects. */
  handIn(claim: Claim, report: Succeeded): Promise<FinishAnswer> {
    return this.#desk.hand(claim, report);
  }
}

/**
 * Its claim was not had. What ran ahead of it ends, or is abandoned, before the doorbell goes back and the slot is free: an executor that is deaf to its signal would meet itself, in
 * more places than there are slots.
 */
export async function callOff(claim: Claim, message: PulledMessage, run: EarlyRun | undefined): Promise<void> {
  claim.stop('lost');
  if (run === undefined) return;
  const waiting = setInterval(() => message.working(), STILL_MS);
  await run;
  clearInterval(waiting);
}
