/** What a fact says and is found by. */
type Said = {
  readonly statement: string;
  readonly subject?: string | undefined;
  readonly predicate?: string | undefined;
};

/**
 * The first of them that shows nothing to a reader: blanks, joiners and the like only. Such a fact could neither be
 * found nor quoted, and all of its kind would be one. Null: there is none.
 */
export function findBlank({ statement, subject, predicate }: Said): keyof Said | null {
  if (isBlank(statement)) return 'statement';
  if (subject !== undefined && isBlank(subject)) return 'subject';
  return predicate !== undefined && isBlank(predicate) ? 'predicate' : null;
}

/** Letters and signs by their class that nobody sees: Hangul fillers, the empty Braille pattern. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

function isBlank(text: string): boolean {
  return !/[\p{L}\p{N}\p{P}\p{S}]/u.test(text.replace(UNSEEN, ''));
}
