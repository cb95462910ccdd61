import { Parser } from 'htmlparser2';

/** Elements that begin a line of their own. */
const LINES = new Set(
  'p div li tr br hr h1 h2 h3 h4 h5 h6 ul ol table tbody thead blockquote pre ac:structured-macro ac:rich-text-body ac:plain-text-body ac:task ac:layout-section ac:layout-cell'.split(
    ' ',
  ),
);
/** After these comes a blank line: a paragraph ends. */
const PARAGRAPHS = new Set('p div h1 h2 h3 h4 h5 h6 ul ol table blockquote pre ac:structured-macro'.split(' '));
/** Not meant for readers: settings of macros, ids and states of tasks. */
const UNREAD = new Set('script style head title ac:parameter ac:task-id ac:task-status ac:placeholder'.split(' '));

/**
 * Confluence's storage format (XHTML with `ac:` and `ri:` elements) as plain text: headings as in Markdown, so that
 * passages know their heading, a table row on one line, code and panels with their text. Linear in its length.
 */
export function storageToText(storage: string): string {
  let text = '';
  let unread = 0;
  const line = () => {
    if (text !== '' && !text.endsWith('\n')) text += '\n';
  };
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        if (UNREAD.has(name)) unread += 1;
        else if (LINES.has(name)) line();
        if (/^h[1-6]$/.test(name)) text += `\n${'#'.repeat(Number(name[1]))} `;
        else if (name === 'li' || name === 'ac:task') text += '- ';
        // A link whose text is its own address.
        else if (name === 'ri:page' && attributes['ri:content-title'] !== undefined)
          text += attributes['ri:content-title'];
      },
      ontext: (data) => {
        if (unread === 0) text += data.replace(/[ \t\n\r\u00a0]+/g, ' ');
      },
      onclosetag: (name) => {
        if (UNREAD.has(name)) unread -= 1;
        else if (name === 'td' || name === 'th') text += ' | ';
        else if (LINES.has(name)) line();
        if (PARAGRAPHS.has(name) && !text.endsWith('\n\n')) text += '\n';
      },
    },
    { recognizeCDATA: true, recognizeSelfClosing: true, decodeEntities: true },
  );
  parser.end(storage);
  return text
    .split('\n')
    .map(withoutRowEnd)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/**
 * Without the bars of cells that end a row, and the spaces around them. Walks back from the end: a pattern would try
 * again from each of a line's thousand bars.
 */
function withoutRowEnd(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  while (line[end - 1] === '|' && line[end - 2] === ' ') end -= 2;
  return line.slice(0, end);
}
