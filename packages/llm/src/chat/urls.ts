/** `https://…`, `//host/…` in a link, `javascript:` and `data:` URLs. */
const SCHEMES =
  /(h)(tt)(ps?:\/\/)|(?<=[("'=]\s{0,3})(\/\/)(?=[\w-]+\.)|\b(javascript|data|vbscript|file|ftp)(:)(?=\S)/gi;
const MARKUP = /<(?=\/?[a-z!])|!(?=\[)/gi;

/**
 * A model's free text as text and nothing else: whatever a page or a chat would load or run from it is broken up
 * (`hxxps://`, `‹img`). An address is where a model that was talked into it would put a secret. What appears word for
 * word in `vouched` is a quote, and stays as it is.
 */
export function defuseUrls(value: unknown, vouched: readonly string[]): unknown {
  if (typeof value === 'string') return isQuote(value, vouched) ? value : defuse(value);
  if (Array.isArray(value)) return value.map((item) => defuseUrls(item, vouched));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, defuseUrls(item, vouched)]));
}

function defuse(text: string): string {
  if (!/[:<!/]/.test(text)) return text;
  return text
    .replace(SCHEMES, (found) => {
      if (/^http/i.test(found)) return found.replace(/^(h)tt/i, '$1xx');
      return found === '//' ? '/ /' : found.replace(':', ' :');
    })
    .replace(MARKUP, (found) => (found === '<' ? '‹' : '! '));
}

function isQuote(text: string, vouched: readonly string[]): boolean {
  return !/[:<!/]/.test(text) || vouched.some((each) => each.includes(text));
}
