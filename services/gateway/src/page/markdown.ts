import { type Html, html } from './html.ts';

/** Characters. Anything longer is not a report, and is shown as it is. */
const MOST_FORMATTED = 100_000;

/**
 * The little of Markdown that reports use: headings, lists, quotes, pipe tables, emphasis, code. Everything else is
 * text; there are no links and no markup.
 */
export function fromMarkdown(text: string): Html {
  if (text.length > MOST_FORMATTED) return html`<div class="report"><pre tabindex="0">${text}</pre></div>`;
  const blocks: Html[] = [];
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  for (let i = 0; i < lines.length; ) {
    const [block, taken] = readBlock(lines, i);
    if (block) blocks.push(block);
    i += taken;
  }
  return html`<div class="report">${blocks}</div>`;
}

const RULES: readonly (readonly [RegExp, (lines: readonly string[]) => Html])[] = [
  [
    /^\s*[-*] /,
    (lines) => html`<ul>${lines.map((line) => html`<li>${inline(line.replace(/^\s*[-*] /, ''))}</li>`)}</ul>`,
  ],
  [
    /^\s*\d+[.)] /,
    (lines) => html`<ol>${lines.map((line) => html`<li>${inline(line.replace(/^\s*\d+[.)] /, ''))}</li>`)}</ol>`,
  ],
  [
    /^\s*> ?/,
    (lines) =>
      html`<blockquote>${lines.map((line) => html`<p>${inline(line.replace(/^\s*> ?/, ''))}</p>`)}</blockquote>`,
  ],
  [/^\|/, toTable],
];

function readBlock(lines: readonly string[], at: number): [block: Html | undefined, taken: number] {
  const line = lines[at] ?? '';
  if (line.trim() === '') return [undefined, 1];
  const [, marks, title] = /^(#{1,6}) (.*)$/.exec(line) ?? [];
  // The page has headings of its own above these.
  if (marks !== undefined)
    return [marks.length === 1 ? html`<h3>${inline(title ?? '')}</h3>` : html`<h4>${inline(title ?? '')}</h4>`, 1];
  if (line.startsWith('```')) return readFence(lines, at);
  for (const [pattern, render] of RULES) {
    const run = takeWhile(lines, at, (each) => pattern.test(each));
    if (run.length > 0) return [render(run), run.length];
  }
  const run = takeWhile(
    lines,
    at,
    (each) => each.trim() !== '' && !/^(#{1,6} |```|\s*[-*] |\s*\d+[.)] |\s*>|\|)/.test(each),
  );
  // Looks like Markdown but lacks its space: text all the same.
  const text = run.length > 0 ? run : [line];
  return [html`<p>${text.map((each, i) => [i > 0 && html`<br>`, inline(each)])}</p>`, text.length];
}

function readFence(lines: readonly string[], at: number): [Html, number] {
  const body = takeWhile(lines, at + 1, (each) => !each.startsWith('```'));
  return [html`<pre tabindex="0">${body.join('\n')}</pre>`, body.length + 2];
}

function toTable(lines: readonly string[]): Html {
  const rows = lines
    .filter((line) => !/^\|[\s:|-]*$/.test(line))
    .map((line) => line.replace(/^\||\|\s*$/g, '').split('|'));
  const [head = [], ...body] = rows;
  return html`<table><thead><tr>${head.map((cell) => html`<th scope="col">${inline(cell.trim())}</th>`)}</tr></thead><tbody>${body.map(
    (row) => html`<tr>${row.map((cell) => html`<td>${inline(cell.trim())}</td>`)}</tr>`,
  )}</tbody></table>`;
}

function inline(text: string): Html[] {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part) => {
    if (part.startsWith('**') && part.length > 4) return html`<strong>${part.slice(2, -2)}</strong>`;
    if (part.startsWith('`') && part.length > 2) return html`<code>${part.slice(1, -1)}</code>`;
    return html`${part}`;
  });
}

function takeWhile(lines: readonly string[], from: number, keep: (line: string) => boolean): string[] {
  let end = from;
  for (let line = lines[end]; line !== undefined && keep(line); line = lines[end]) end++;
  return lines.slice(from, end);
}
