export { type Converted, toCalendarDays, toMonths, toPercentPerYear } from './compare-magnitude.ts';
export { type FoundDate, findDates } from './dates.ts';
export {
  compareDecimals,
  type Decimal,
  decimalOf,
  formatDecimal,
  multiplyDecimals,
  parseDecimal,
  shiftLeft,
} from './decimal.ts';
export { findQuantities } from './find-quantities.ts';
export { foldWidth } from './fold-width.ts';
export type { Period, Quantity, QuantityUnit, Span } from './quantity.ts';
