/**
 * Full-width forms and typographic dashes as their ASCII counterparts, one code unit for one: offsets into the folded
 * text are offsets into the text.
 */
export function foldText(text: string): string {
  return text.replace(/[\uff01-\uff5e\u3000\u00a0\u2010-\u2015\u2212]/g, (char) => {
    const code = char.charCodeAt(0);
    if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
    return code === 0x3000 || code === 0x00a0 ? ' ' : '-';
  });
}

/** Not `\b`, which is wrong beside a CJK character and after `_`. */
export function isAsciiWord(char: string | undefined): boolean {
  return char !== undefined && /[0-9A-Za-z]/.test(char);
}
