import type { VerdictReason } from '@cleanslate/contracts';
import type { Span } from '../quantities/index.ts';
import { clip } from './check.ts';

export interface QuoteClaim {
  readonly quote: string;
  readonly span: Span;
  /** Where in the judged result. */
  readonly path: string;
}

/** Does the document say `quote` at `span`? The reason says where the quote really is, if anywhere. */
export function checkQuote(text: string, { quote, span, path }: QuoteClaim): VerdictReason | null {
  if (quote === '') {
    return {
      code: 'QUOTE_EMPTY',
      path,
      message: 'The quote is empty.',
      remedy: 'Quote the sentence that the claim rests on.',
    };
  }
  if (text.slice(span.start, span.end) === quote) return null;
  const elsewhere = text.indexOf(quote);
  if (elsewhere === -1) {
    const there = clip(text.slice(span.start, span.end));
    return {
      code: 'QUOTE_NOT_IN_DOCUMENT',
      path,
      message: `The quote «${clip(quote)}» is not in the document; at ${span.start}–${span.end} it says «${there}».`,
      remedy: 'Quote the document letter by letter, with its line breaks.',
    };
  }
  return {
    code: 'QUOTE_AT_OTHER_OFFSET',
    path,
    message: `The quote «${clip(quote)}» is not at ${span.start}–${span.end}.`,
    remedy: `Set the span to { start: ${elsewhere}, end: ${elsewhere + quote.length} } (UTF-16 code units).`,
  };
}
