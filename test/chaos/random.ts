/** Draws a whole number below `below`. */
export type Pick = (below: number) => number;

/** Mulberry32: the same seed, the same numbers. */
export function randomOf(seed: number): Pick {
  let a = seed >>> 0;
  return (below) => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Deals all of them in random order, then all of them again: nothing is left to luck but the order. */
export function* dealFrom<T>(items: readonly T[], pick: Pick): Generator<T, never> {
  for (;;) {
    const deck = [...items];
    while (deck.length > 0) yield* deck.splice(pick(deck.length), 1);
  }
}
