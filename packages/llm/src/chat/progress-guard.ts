import { AppError, canonicalJson } from '@cleanslate/contracts';

/** The same call, whatever the order of its keys; and the same result, even if a counter in the arguments changed. */
const MAX_SAME_CALL = 3;
const MAX_SAME_RESULT = 5;
const MAX_SHOWN = 200;

export type GuardLimits = { readonly maxCalls: number; readonly maxTokens: number };

/** Ends a loop of tool calls that leads nowhere: models repeat themselves for hundreds of calls. */
export class ProgressGuard {
  readonly #limits: GuardLimits;
  readonly #seen = new Map<string, number>();
  readonly #trace: { readonly tool: string; readonly arguments: string }[] = [];

  constructor(limits: GuardLimits) {
    this.#limits = limits;
  }

  /** Before a call is made. Throws `NO_PROGRESS` with the calls so far. */
  onCall(tool: string, input: unknown): void {
    const text = canonicalJson(input);
    this.#trace.push({ tool, arguments: text.slice(0, MAX_SHOWN).toWellFormed() });
    if (this.#trace.length > this.#limits.maxCalls)
      throw this.#stop(`more than ${this.#limits.maxCalls} tool calls (maxCalls)`);
    if (this.#count(`call ${tool} ${text}`) > MAX_SAME_CALL)
      throw this.#stop(`"${tool}" was called again and again with the same arguments`);
  }

  onResult(tool: string, result: string): void {
    if (this.#count(`result ${tool} ${result}`) > MAX_SAME_RESULT)
      throw this.#stop(`"${tool}" gave the same result again and again`);
  }

  onTokens(used: number): void {
    if (used > this.#limits.maxTokens)
      throw this.#stop(`${used} tokens were used (maxTokens ${this.#limits.maxTokens})`);
  }

  #count(what: string): number {
    const count = (this.#seen.get(what) ?? 0) + 1;
    this.#seen.set(what, count);
    return count;
  }

  #stop(why: string): AppError {
    return new AppError('NO_PROGRESS', `model: stopped, ${why}`, { details: { calls: this.#trace.slice(-20) } });
  }
}
