import type { DeadLetterView, JsonObject, LetterEdit } from '@cleanslate/contracts';
import { JsonObject as JsonObjectSchema, parseGivenJson } from '@cleanslate/contracts';
import { readBytes } from '../input/read-bytes.ts';
import { inputError } from '../input-error.ts';

export type EditOptions = { readonly edit?: string; readonly set?: readonly string[] };

/** What a replay uses instead of the letter's bytes: a file, or the letter's own content with some values changed. */
export async function readEdit(
  letter: Pick<DeadLetterView, 'stepId' | 'body'>,
  { edit, set = [] }: EditOptions,
): Promise<LetterEdit | undefined> {
  if (edit !== undefined && set.length > 0)
    throw inputError({ what: '--edit and --set', where: '--set', remedy: 'give either a file or single values' });
  if (edit !== undefined) {
    const bytes = await readBytes(edit, '--edit');
    return letter.stepId === null ? toBody(bytes) : { input: toObject(bytes, '--edit') };
  }
  if (set.length === 0) return undefined;
  const original = readOriginal(letter);
  for (const assignment of set) assign(original, assignment);
  return letter.stepId === null ? toBody(Buffer.from(JSON.stringify(original))) : { input: original };
}

function toBody(bytes: Uint8Array): LetterEdit {
  return { body: Buffer.from(bytes).toString('base64') };
}

/** A step's input, or a whole message. */
function readOriginal({ stepId, body }: Pick<DeadLetterView, 'stepId' | 'body'>): JsonObject {
  const whole = toObject(Buffer.from(body ?? '', 'base64'), '--set');
  if (stepId === null) return whole;
  const data = JsonObjectSchema.safeParse(whole['data']);
  const input = JsonObjectSchema.safeParse(data.data?.['input']);
  if (input.success) return structuredClone(input.data);
  throw inputError({
    what: 'the letter holds no input',
    where: '--set',
    remedy: 'give the whole input with --edit FILE',
  });
}

function toObject(bytes: Uint8Array, where: string): JsonObject {
  try {
    return JsonObjectSchema.parse(parseGivenJson(bytes, where));
  } catch (error) {
    const remedy = where === '--set' ? 'give the whole content with --edit FILE' : 'write one JSON object in UTF-8';
    throw inputError({ what: 'no JSON object', where, remedy }, error);
  }
}

/** `a.b.0=value`: as JSON if it is JSON, otherwise as text. */
function assign(target: JsonObject, assignment: string): void {
  const at = assignment.indexOf('=');
  const path = assignment.slice(0, at).split('.');
  const last = path.pop();
  const wrong = (what: string) =>
    inputError({
      what,
      where: `--set ${assignment.slice(0, 100)}`,
      remedy: 'write path=value, such as document.name=b.txt',
    });
  if (at < 1 || last === undefined || last === '') throw wrong('no path and value');
  let holder: unknown = target;
  for (const key of path) {
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key))
      throw wrong(`there is no "${key}"`);
    holder = (holder as JsonObject)[key];
  }
  if (typeof holder !== 'object' || holder === null || last === '__proto__')
    throw wrong(`"${last}" can't be set there`);
  (holder as JsonObject)[last] = toValue(assignment.slice(at + 1));
}

function toValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
