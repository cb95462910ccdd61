/** Where the pages of a text begin, by the form feeds between them; empty for a text without pages. */
export function pageStarts(text: string): readonly number[] {
  const starts: number[] = [];
  for (let at = text.indexOf('\f'); at !== -1; at = text.indexOf('\f', at + 1)) {
    if (starts.length === 0) starts.push(0);
    starts.push(at + 1);
  }
  return starts;
}

/** The page an offset is on, from 1; undefined for a text without pages. */
export function pageOf(starts: readonly number[], offset: number): number | undefined {
  if (starts.length === 0) return undefined;
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}
