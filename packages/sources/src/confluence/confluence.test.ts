import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCql, toCqlString } from './cql.ts';
import { storageToText } from './storage-to-text.ts';

const SCOPE = { spaces: ['HR'], labels: [] };

describe('CQL', () => {
  it('asks for pages of the spaces that hold any telling word', () => {
    expect(toCql('How long is the parental leave?', SCOPE)).toBe(
      'type = page AND space IN ("HR") AND (text ~ "long" OR text ~ "parental" OR text ~ "leave")',
    );
    expect(toCql('the of and', SCOPE)).toBeNull();
    expect(toCqlString('a"b\\c')).toBe('"a\\"b\\\\c"');
  });

  it('a question is words and nothing else: it closes no quote and names no field, whatever it holds', () => {
    const hostile = '" OR space = SECRET OR text ~ "* AND NOT type:x {!lucene} \\" 休假';
    const cql = toCql(hostile, SCOPE) ?? '';
    expect(cql.replace(/^.*?AND \(/, '(')).toMatch(/^\((?:text ~ "[\p{L}\p{N}]+"(?: OR )?)+\)$/u);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (question) => {
        const asked = toCql(question, { spaces: [], labels: [] });
        if (asked !== null) expect(asked).toMatch(/^type = page AND \((?:text ~ "[\p{L}\p{N}]+"(?: OR )?)+\)$/u);
      }),
    );
  });
});

describe('storage format', () => {
  it('becomes the text that a reader of the page sees', () => {
    const storage = `<h1>Leave</h1><p>Employees get <strong>30&nbsp;days</strong> &mdash; pro&shy;rata.</p>
      <table><tbody><tr><th>Kind</th><th>Days</th></tr><tr><td>Parental</td><td>16&times;5</td></tr></tbody></table>
      <ac:structured-macro ac:name="info"><ac:parameter ac:name="title">hidden</ac:parameter><ac:rich-text-body><p>Ask HR.</p></ac:rich-text-body></ac:structured-macro>
      <ac:structured-macro ac:name="code"><ac:plain-text-body><![CDATA[if (a < b) { return "<p>"; }]]></ac:plain-text-body></ac:structured-macro>
      <p>See <ac:link><ri:page ri:content-title="Travel policy" /></ac:link>.</p><ul><li>one</li><li>two</li></ul>
      <script>alert(1)</script>`;
    expect(storageToText(storage)).toBe(
      [
        '# Leave\n\nEmployees get 30 days — pro\u00adrata.\n\nKind | Days\nParental | 16×5\n\nAsk HR.\n\nif (a < b) { return "<p>"; }',
        'See Travel policy.\n\n- one\n- two',
      ].join('\n\n'),
    );
  });

  it('that is broken, hostile or huge is text all the same, in a moment', () => {
    // No clock: a rule that is quadratic would run into the test's own time-out.
    for (const storage of [
      '<p>open',
      '</p></p>',
      '<p><p><p>'.repeat(50_000),
      '&'.repeat(200_000),
      '<'.repeat(200_000),
      `<p>${' |'.repeat(200_000)}x</p>`,
      `<a ${'x="'.repeat(50_000)}`,
    ])
      expect(typeof storageToText(storage)).toBe('string');
    expect(storageToText('<p>a</p>')).toBe('a');
  });
});
