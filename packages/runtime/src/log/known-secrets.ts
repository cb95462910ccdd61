/**
 * Shorter secrets would take half the words of a log with them; they are hidden only where they are the value of a
 * secret's key.
 */
const MIN_LENGTH = 6;
const HIDDEN = '[redacted]';

/** Forms in which a secret may turn up. */
const forms = new Set<string>();
let pattern: RegExp | undefined;

/** Values that must never appear: from now on they are removed from every error and every log line of this process. */
export function hideSecrets(values: Iterable<string>): void {
  for (const value of values) {
    if (value.length < MIN_LENGTH) continue;
    for (const form of toForms(value)) forms.add(form);
  }
  if (forms.size === 0) return;
  // Longest first, so that no half of a longer form remains. A line break may have been put between any two characters.
  const sorted = [...forms].sort((a, b) => b.length - a.length);
  pattern = new RegExp(sorted.map((form) => [...form].map(escapeCharacter).join('(?:\\r?\\n|\\\\n)?')).join('|'), 'g');
}

/**
 * Names of secrets are recognised by their ending, since an environment holds other people's too (`OPENAI_API_KEY`).
 */
export function findSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (/(PASSWORD|SECRET|TOKEN|API_?KEY|CREDENTIALS)$/i.test(name)) return [value];
    if (/HEADERS$/.test(name)) return value.split(',').map((pair) => decode(pair.slice(pair.indexOf('=') + 1).trim()));
    return passwordsIn(value);
  });
}

/** Removes known secrets from a text, in all their forms. */
export function hideKnown(text: string): string {
  return pattern === undefined ? text : text.replace(pattern, HIDDEN);
}

/** The same for a log line, which rarely contains one: a search costs a fraction of a replacement. */
export function hideKnownInLine(line: string): string {
  for (const form of forms) if (line.includes(form)) return hideKnown(line);
  return line;
}

function toForms(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  return [value, escaped, JSON.stringify(escaped).slice(1, -1), encodeURIComponent(value), ...toBase64Forms(value)];
}

/**
 * The part of the value's base64 that does not depend on its neighbours, wherever the value begins in what is encoded.
 */
function toBase64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const from = Math.ceil((before * 8) / 6);
    const to = Math.floor((whole.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((encoding) => whole.toString(encoding).slice(from, to));
  });
}

function passwordsIn(value: string): string[] {
  return value.split(',').flatMap((part) => {
    if (!part.includes('://') || !URL.canParse(part.trim())) return [];
    const { password } = new URL(part.trim());
    return password === '' ? [] : [decode(password)];
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function escapeCharacter(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
