/** Columns as wide as their widest cell; wide characters (Chinese, full-width) count two. */
export function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => displayWidth(row[column] ?? ''))));
  return all.map((row) =>
    header
      .map((_, column) => pad(row[column] ?? '', widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Cuts to a display width, with an ellipsis. */
export function cutTo(text: string, width: number): string {
  const line = text.replace(/\s+/g, ' ');
  if (displayWidth(line) <= width) return line;
  let cut = '';
  let used = 0;
  for (const character of line) {
    used += displayWidth(character);
    if (used > width - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(plain(text))));
}

/** Terminal columns of a text without its colour codes. */
function displayWidth(text: string): number {
  let width = 0;
  for (const character of plain(text)) width += WIDE.test(character) ? 2 : 1;
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes start with ESC
  return text.replace(/\u001b\[[0-9;]*m/g, '');
}
