import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CLAUSE_KINDS } from './clause.ts';
import { readClause } from './read-clause.fixture.ts';

type Passages = Record<string, readonly (readonly [string, string])[]>;

const passagesOf = (language: 'en' | 'zh'): Passages =>
  JSON.parse(readFileSync(new URL(`fixtures/passages-${language}.json`, import.meta.url), 'utf8'));

/** Hard line breaks at `width`, with `indent` before each further line. */
function wrap(text: string, width: number, indent = ''): string {
  let line = '';
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${indent}`);
}

/** A page ends in the middle of the sentence, before a word in small letters. */
function breakPage(text: string, furniture: string): string {
  const words = text.split(' ');
  const at = words.findIndex((word, index) => index >= words.length / 2 && /^[a-z]/.test(word));
  return at === -1 ? text : `${words.slice(0, at).join(' ')}${furniture}${words.slice(at).join(' ')}`;
}

const CONTENTS =
  'TABLE OF CONTENTS\n\n1. Assignment ........ 4\n2. Governing Law ...... 5\n3. Arbitration . . . . . . . 6\n\n';

// How filings, scans with recognised text and mail bring a contract.
const WAYS: readonly (readonly [name: string, change: (text: string) => string])[] = [
  ['hard line breaks', (text) => wrap(text, 38)],
  ['indented lines', (text) => wrap(text, 50, '          ')],
  ['a page break with its number', (text) => breakPage(text, '\n\n<PAGE>   12\n\n')],
  ['a page break with header and footer', (text) => breakPage(text, '\n\n\nPage 3 of 9\n\f\nCONFIDENTIAL\n\n')],
  ['double blanks', (text) => text.replaceAll(' ', '  ')],
  ['a table of contents before it', (text) => CONTENTS + text],
  ['typographic quotes', (text) => text.replaceAll("'", '’').replace(/"([^"]*)"/g, '“$1”')],
  ['a section number', (text) => `12.3   ${text}`],
  ['a letter', (text) => `(b) ${text}`],
  ['CR LF and a byte order mark', (text) => `\ufeff${wrap(text, 60).replaceAll('\n', '\r\n')}`],
];

describe.each(WAYS)('English passages with %s', (_name, change) => {
  test.each(CLAUSE_KINDS.slice(3))('%s is read as without', (kind) => {
    for (const [text, expected] of passagesOf('en')[kind] ?? [])
      expect([text, readClause(kind, change(text))]).toEqual([text, expected]);
  });
});

const ZH_WAYS: readonly (readonly [name: string, change: (text: string) => string])[] = [
  ['full-width digits', (text) => text.replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0))],
  ['half-width punctuation', (text) => text.replaceAll('，', ',').replaceAll('（', '(').replaceAll('）', ')')],
  ['an article number', (text) => `第八条 ${text}`],
];

describe.each(ZH_WAYS)('Chinese passages with %s', (_name, change) => {
  test.each(CLAUSE_KINDS.slice(3))('%s is read as without', (kind) => {
    for (const [text, expected] of passagesOf('zh')[kind] ?? [])
      expect([text, readClause(kind, change(text))]).toEqual([text, expected]);
  });
});
