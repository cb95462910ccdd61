import { pageOf } from '@cleanslate/documents';
import type { Span } from '@cleanslate/domain';
import type { Quoted } from './clause.ts';

export interface Source {
  readonly text: string;
  readonly pages: readonly number[];
}

/** A passage of the document, letter by letter, with its page where there are pages. */
export function toQuoted({ text, pages }: Source, { start, end }: Span): Quoted {
  const page = pageOf(pages, start);
  return { quote: text.slice(start, end), span: page === undefined ? { start, end } : { start, end, page } };
}
