import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html, path, query, toMarkup } from './html.ts';

test('what is filled in is text, as an element and as an attribute; markup stays markup', () => {
  const hostile = `<img src=x onerror="alert('1')">&amp;`;
  expect(
    toMarkup(html`<p title="${hostile}">${hostile}${html`<b>${1}</b>`}${[html`<i></i>`, 'x<']}${null}${false}</p>`),
  ).toBe(
    '<p title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;">&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;<b>1</b><i></i>x&lt;</p>',
  );
});

test('no text gets out of its place', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const inside = toMarkup(html`${text}`);
      expect(inside).not.toMatch(/[<>"']/);
      expect(path`/tasks/${text}/x`.split('/')).toHaveLength(4);
    }),
  );
});

test('an attribute without quotes is refused', () => {
  expect(() => html`<a href=${'x'}>`).toThrow('quotes');
});

test('queries hold what is there', () => {
  expect(query({ state: 'failed', workflow: undefined, cursor: '', limit: 5 })).toBe('?state=failed&limit=5');
  expect(query({})).toBe('');
});
