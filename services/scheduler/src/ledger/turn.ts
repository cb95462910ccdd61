/** How a run of a batcher relates to the one before it and the one after it. */
export type Turn = {
  /** True if no run before it needs to be waited for. */
  readonly isFirst: boolean;
  /** Resolves once it is first. */
  readonly first: Promise<void>;
  /** True if another run has begun after it. */
  readonly isFollowed: boolean;
  /** The next run may begin beside this one. */
  prepared(): void;
  /** The next run need not wait for this one any more. Called at the latest when it ends. */
  passOn(): void;
};

/** For a run with none before or after it. */
export const ALONE: Turn = {
  isFirst: true,
  first: Promise.resolve(),
  isFollowed: false,
  prepared: () => undefined,
  passOn: () => undefined,
};

/** A run in progress, with the keys of its items. */
export class Run implements Turn {
  readonly keys: ReadonlySet<string>;
  /** Nothing runs beside it. */
  readonly isAlone: boolean;
  readonly first: Promise<void>;
  isFirst: boolean;
  isPrepared = false;
  hasPassedOn = false;
  isFollowed = false;
  readonly #onChange: () => void;
  readonly #passedOn = Promise.withResolvers<void>();

  /** `onChange`: another run may be able to begin. */
  constructor(keys: ReadonlySet<string>, isAlone: boolean, before: Run | undefined, onChange: () => void) {
    this.keys = keys;
    this.isAlone = isAlone;
    this.#onChange = onChange;
    this.isFirst = before === undefined || before.hasPassedOn;
    this.first = before === undefined ? Promise.resolve() : before.#passedOn.promise.then(() => this.#lead());
    if (before !== undefined) before.isFollowed = true;
  }

  prepared(): void {
    this.isPrepared = true;
    this.#onChange();
  }

  /** One that is not first itself can't make another one first. */
  passOn(): void {
    if (!this.isFirst) {
      void this.first.then(() => this.passOn());
      return;
    }
    if (this.hasPassedOn) return;
    this.hasPassedOn = true;
    this.#passedOn.resolve();
    this.#onChange();
  }

  #lead(): void {
    this.isFirst = true;
  }
}
