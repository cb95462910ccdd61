import { basename, extname } from 'node:path';
import { type JsonObject, JsonObject as JsonObjectSchema, parseGivenJson, toAppError } from '@cleanslate/contracts';
import { DEFAULT_BOUNDS, readDocumentFile } from '@cleanslate/documents';
import { inputError } from '../input-error.ts';
import { readBytes } from './read-bytes.ts';

const WHERE = '--input';

/**
 * A workflow's input: a `.json` file is the input itself; a text, Word or PDF file becomes
 * `{ document: { name, mediaType, text } }`.
 */
export async function readSubmitInput(file: string): Promise<JsonObject> {
  // A Word or PDF file is larger than the text sent from it.
  const packed = /\.(?:pdf|docx)$/i.test(file);
  const bytes = await readBytes(file, WHERE, packed ? { maxBytes: DEFAULT_BOUNDS.maxFileBytes } : {});
  // What a shell pipes in has no name; a JSON object is recognised by itself.
  const asJson = file === '-' ? firstCharacter(bytes) === '{' : extname(file).toLowerCase() === '.json';
  return asJson
    ? readJsonInput(bytes, file)
    : { document: await readTextInput(bytes, file === '-' ? 'stdin.txt' : basename(file)) };
}

function readJsonInput(bytes: Uint8Array, file: string): JsonObject {
  let value: unknown;
  try {
    value = parseGivenJson(bytes, file);
  } catch (error) {
    const { code, message } = toAppError(error);
    const known = code === 'PAYLOAD_TOO_LARGE' ? 'PAYLOAD_TOO_LARGE' : 'UNPARSEABLE';
    throw inputError({ code: known, what: message, where: WHERE, remedy: 'send one JSON object in UTF-8' }, error);
  }
  const parsed = JsonObjectSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw inputError({ what: `${file} holds no JSON object`, where: WHERE, remedy: 'wrap the value: { "field": … }' });
}

async function readTextInput(bytes: Uint8Array, name: string) {
  const read = await readDocumentFile(bytes, name);
  if (read.ok) {
    const { name: documentName, mediaType, text } = read.document;
    return { name: documentName, mediaType, text };
  }
  const { message, remedy, code } = read.error;
  throw inputError({
    code: code === 'DOCUMENT_TOO_LARGE' ? 'PAYLOAD_TOO_LARGE' : 'INVALID_INPUT',
    what: message,
    where: `${WHERE} (field document.text)`,
    remedy,
  });
}

function firstCharacter(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().charAt(0);
}
