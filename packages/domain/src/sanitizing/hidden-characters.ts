/**
 * Invisible characters that can hide something: formats (zero-width, bidirectional, tags), controls, variation
 * selectors, fillers, separators that no editor writes. Line breaks, tabs and form feeds stay.
 */
const HIDDEN =
  /\p{Cf}|(?![\t\n\f\r])\p{Cc}|\p{Variation_Selector}|\u034f|\u115f|\u1160|\u2028|\u2029|\u3164|\uffa0|\p{Noncharacter_Code_Point}/gu;

/** The text without hidden characters, and how many there were. */
export function withoutHidden(text: string): { readonly text: string; readonly count: number } {
  let count = 0;
  const shown = text.replace(HIDDEN, () => {
    count += 1;
    return '';
  });
  return { text: shown, count };
}
