import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toMarkup } from './html.ts';
import { fromMarkdown } from './markdown.ts';

test('a report becomes headings, lists, quotes and tables', () => {
  const text =
    '# Title\n\nOne **bold** and `code`.\nTwo.\n\n- a\n- b\n\n1. c\n\n> said\n\n| A | B |\n| - | - |\n| 1 | 2 |\n\n```\nx < y\n```\n';
  expect(toMarkup(fromMarkdown(text))).toBe(
    '<div class="report"><h3>Title</h3><p>One <strong>bold</strong> and <code>code</code>.<br>Two.</p><ul><li>a</li><li>b</li></ul><ol><li>c</li></ol>' +
      '<blockquote><p>said</p></blockquote><table><thead><tr><th scope="col">A</th><th scope="col">B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>' +
      '<pre tabindex="0">x &lt; y</pre></div>',
  );
});

test('markup and links of a text stay text', () => {
  const markup = toMarkup(
    fromMarkdown('<script>alert(1)</script> ![x](https://evil.example/?q=1) [y](javascript:alert(1))'),
  );
  expect(markup).not.toMatch(/<script|<img|<a /);
});

test('any text ends, and keeps every letter', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('# a', '- b', '>', '|', '| c |', '```', '1. d', '', 'e', '#', '**', '**f**', '`')),
      (lines) => {
        const letters = (text: string) => text.replace(/<[^>]*>|&\w+;/g, '').replace(/[^a-f]/g, '');
        expect(letters(toMarkup(fromMarkdown(lines.join('\n'))))).toBe(letters(lines.join('\n')));
      },
    ),
  );
});

const nearLimit = (shape: string) => shape.repeat(Math.floor(99_000 / shape.length));

// Nothing is measured: what grows with the square of the text takes longer than the test may, many times over.
test('a report of hostile shape is read once, not once for each of its lines', () => {
  const shapes = ['a\n\n', '- a\n\n', '1. a\n\n', '> a\n\n', '| a\n\n', '# a\n', '```\n```\n', '-\n', '**a', '`'].map(
    nearLimit,
  );
  const padded = [' ', ':', '-', '|', '9', '*', '#'].map((pad) => `|${nearLimit(pad)}x`);
  for (const text of [...shapes, ...padded]) expect(toMarkup(fromMarkdown(text))).toContain('class="report"');
});

test('a text too long for a report is shown as it came', () => {
  const text = `# <b>\n${'a\n\n'.repeat(1_000_000)}`;
  expect(toMarkup(fromMarkdown(text)).slice(0, 60)).toBe(
    '<div class="report"><pre tabindex="0"># &lt;b&gt;\na\n\na\n\na\n\na'.slice(0, 60),
  );
});
