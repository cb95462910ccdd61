/** A half-open range of time, UTC as `toISOString` prints it; null is unbounded. ISO strings in UTC compare as text. */
export type Interval = { readonly from: string | null; readonly until: string | null };

/** The thirteen relations of two ranges (Allen 1983). */
export const ALLEN_RELATIONS = [
  ...['before', 'meets', 'overlaps', 'starts', 'during', 'finishes', 'equals'],
  ...['finished_by', 'contains', 'started_by', 'overlapped_by', 'met_by', 'after'],
] as const;
export type AllenRelation =
  | ('before' | 'meets' | 'overlaps' | 'starts' | 'during' | 'finishes' | 'equals')
  | ('finished_by' | 'contains' | 'started_by' | 'overlapped_by' | 'met_by' | 'after');

/** The relation of `a` to `b`. Total on ranges that contain at least one moment. */
export function allenRelation(a: Interval, b: Interval): AllenRelation {
  const [ends, begins] = [compareUntilFrom(a, b), compareUntilFrom(b, a)];
  if (ends < 0) return 'before';
  if (ends === 0) return 'meets';
  if (begins < 0) return 'after';
  if (begins === 0) return 'met_by';
  const [from, until] = [compareFrom(a, b), compareUntil(a, b)];
  if (from === 0) return until === 0 ? 'equals' : until < 0 ? 'starts' : 'started_by';
  if (until === 0) return from > 0 ? 'finishes' : 'finished_by';
  if (from < 0) return until < 0 ? 'overlaps' : 'contains';
  return until < 0 ? 'during' : 'overlapped_by';
}

/** What both ranges cover; null if they have no moment in common. */
export function intersect(a: Interval, b: Interval): Interval | null {
  const from = compareFrom(a, b) >= 0 ? a.from : b.from;
  const until = compareUntil(a, b) <= 0 ? a.until : b.until;
  return isEmpty({ from, until }) ? null : { from, until };
}

/** The parts of `whole` that no range of `parts` covers, in order. */
export function findGaps(whole: Interval, parts: readonly Interval[]): Interval[] {
  const gaps: Interval[] = [];
  let at = whole.from;
  let open = true;
  for (const part of [...parts].sort(compareFrom)) {
    const covered = intersect(whole, part);
    if (covered === null || !open) continue;
    if (compareFrom(covered, { from: at }) > 0) gaps.push({ from: at, until: covered.from });
    if (covered.until === null) open = false;
    else if (at === null || covered.until > at) at = covered.until;
  }
  if (open && !isEmpty({ from: at, until: whole.until })) gaps.push({ from: at, until: whole.until });
  return gaps;
}

function isEmpty({ from, until }: Interval): boolean {
  return from !== null && until !== null && until <= from;
}

function compareFrom(a: Pick<Interval, 'from'>, b: Pick<Interval, 'from'>): number {
  if (a.from === b.from) return 0;
  if (a.from === null || b.from === null) return a.from === null ? -1 : 1;
  return a.from < b.from ? -1 : 1;
}

function compareUntil(a: Interval, b: Interval): number {
  if (a.until === b.until) return 0;
  if (a.until === null || b.until === null) return a.until === null ? 1 : -1;
  return a.until < b.until ? -1 : 1;
}

/** The end of `a` compared with the beginning of `b`; an end that never comes is after any beginning. */
function compareUntilFrom(a: Interval, b: Interval): number {
  if (a.until === null || b.from === null) return 1;
  return a.until === b.from ? 0 : a.until < b.from ? -1 : 1;
}
