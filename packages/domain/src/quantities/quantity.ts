/** A half-open range of UTF-16 code units, so that `text.slice(start, end)` is the text meant. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type QuantityUnit =
  | 'days'
  | 'business_days'
  | 'hours'
  | 'weeks'
  | 'months'
  | 'years'
  | 'percent'
  | 'multiple'
  | 'amount'
  | 'number';

export type Period = 'day' | 'week' | 'month' | 'year';

/** A number read from a text, exact, with what it counts. ‰, 万分之 and basis points are given as percent. */
export interface Quantity {
  /** Plain decimal, canonical: "1.5", "9000000000". */
  readonly value: string;
  readonly unit: QuantityUnit;
  readonly per?: Period;
  /** ISO 4217, for unit `amount`. */
  readonly currency?: string;
  /** The other number, where words and digits disagree as in "thirty (60) days". */
  readonly conflict?: string;
  readonly span: Span;
  readonly text: string;
}
