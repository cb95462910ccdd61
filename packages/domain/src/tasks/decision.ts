import type { LedgerEvent } from './events.ts';
import { evolve } from './evolve.ts';
import { type Aggregate, findStep, type MachineOptions, type Step } from './state.ts';

/** One event with the state before and after it: transitions and messages are derived from these. */
export type Change = { readonly event: LedgerEvent; readonly before: Aggregate; readonly after: Aggregate };

/**
 * The context of one decision: state so far, events so far. Rules call `emit`, and read `state` for what follows from
 * it.
 */
export class Decision {
  readonly now: number;
  readonly options: MachineOptions;
  readonly changes: Change[] = [];
  #state: Aggregate;

  constructor(state: Aggregate, now: number, options: MachineOptions) {
    this.#state = state;
    this.now = now;
    this.options = options;
  }

  get state(): Aggregate {
    return this.#state;
  }

  emit(event: LedgerEvent): void {
    const before = this.#state;
    this.#state = evolve(before, event, this.now);
    this.changes.push({ event, before, after: this.#state });
  }

  refuse(code: string, detail: string, about: { stepId?: string; attempt?: number; claimId?: string } = {}): void {
    this.emit({ kind: 'refused', code, detail, ...about });
  }

  step(stepId: string): Step | undefined {
    return findStep(this.#state, stepId);
  }
}
