/**
 * Exact McNemar test of paired answers: the probability of so uneven a split of the changed questions (`worse` from
 * right to wrong, `better` the other way) if only chance were at work. Two-sided; 1 if nothing changed.
 */
export function mcNemar(worse: number, better: number): number {
  const changed = worse + better;
  const fewer = Math.min(worse, better);
  // The tail of a fair coin's binomial distribution; terms by logarithms, so that 10,000 questions don't overflow.
  let logTerm = -changed * Math.LN2;
  let tail = 0;
  for (let k = 0; k <= fewer; k++) {
    tail += Math.exp(logTerm);
    logTerm += Math.log((changed - k) / (k + 1));
  }
  return Math.min(1, 2 * tail);
}
