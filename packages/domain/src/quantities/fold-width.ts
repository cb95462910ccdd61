const FULL_WIDTH_OFFSET = 0xfee0;

const SINGLES: ReadonlyMap<string, string> = new Map([
  ['\u3000', ' '],
  ['\u00a0', ' '],
  ['\u2018', "'"],
  ['\u2019', "'"],
  ['\u201c', '"'],
  ['\u201d', '"'],
  ['\u2010', '-'],
  ['\u2011', '-'],
  ['\u2013', '-'],
  ['\u2014', '-'],
  ['\uffe5', '¥'],
  ['〔', '('],
  ['〕', ')'],
]);

/**
 * Full-width forms, typographic quotes and dashes to ASCII, one code unit for one, so that
 * offsets stay those of `text`.
 */
export function foldWidth(text: string): string {
  return text.replace(
    /[\u3000\u00a0\u2018\u2019\u201c\u201d\u2010\u2011\u2013\u2014\uffe5〔〕\uff01-\uff5e]/g,
    (char) => {
      const single = SINGLES.get(char);
      return single ?? String.fromCharCode(char.charCodeAt(0) - FULL_WIDTH_OFFSET);
    },
  );
}
