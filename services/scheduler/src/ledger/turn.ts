/** How a run of a batcher stands to the one before it and the one behind it. */
export type Turn = {
  /** True where no run before it needs to be waited for. */
  readonly isFirst: boolean;
  /** Resolves once it is first. */
  readonly first: Promise<void>;
  /** True where another run has begun behind it. */
  readonly isFollowed: boolean;
  /** The next run may begin beside this one. */
  prepared(): void;
  /** The next run need not wait for this one any more. Said at the latest by its end. */
  passOn(): void;
};

/** Of a run that nothing stands before or behind. */
export const ALONE: Turn = {
  isFirst: true,
  first: Promise.resolve(),
  isFollowed: false,
  prepared: () => undefined,
  passOn: () => undefined,
};

/** A run under way, with the keys of its items. */
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

  /** `onChange`: another run may begin, perhaps. */
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

  /** One that is not first itself can't make another one so. */
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
