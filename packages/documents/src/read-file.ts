import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { type Bounds, DEFAULT_BOUNDS } from './bounds.ts';
import {
  DOCUMENT_ERRORS,
  type DocumentError,
  type ReadDocumentResult,
  readDocument,
  toReadableText,
} from './document.ts';

const Answer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), text: z.string() }),
  z.object({ ok: z.literal(false), code: z.enum(DOCUMENT_ERRORS), message: z.string(), remedy: z.string() }),
]);
type Answer = z.infer<typeof Answer>;

const PDF = [0x25, 0x50, 0x44, 0x46, 0x2d];
const ZIP = [0x50, 0x4b, 0x03, 0x04];

function kindOf(bytes: Uint8Array, name: string): 'pdf' | 'docx' | null {
  const begins = (prefix: readonly number[]) => prefix.every((byte, index) => bytes[index] === byte);
  if (/\.pdf$/i.test(name) || begins(PDF)) return begins(PDF) ? 'pdf' : null;
  return begins(ZIP) && /\.docx$/i.test(name) ? 'docx' : null;
}

function refuse(code: DocumentError['code'], message: string, remedy: string): ReadDocumentResult {
  return { ok: false, error: { code, field: 'input', message, remedy } };
}

/**
 * A document's text from a file: `.txt` and `.md` as they are, `.pdf` and `.docx` as the text they contain. A PDF's
 * pages are separated by form feeds, so every offset has a page. Parsers run in a thread with a deadline and a heap
 * limit; what they can't read is refused with the reason and a remedy.
 */
export async function readDocumentFile(
  bytes: Uint8Array,
  name: string,
  given: Partial<Bounds> = {},
): Promise<ReadDocumentResult> {
  const bounds = { ...DEFAULT_BOUNDS, ...given };
  const kind = kindOf(bytes, name);
  if (kind === null) return readDocument(bytes, name);
  if (bytes.length > bounds.maxFileBytes)
    return refuse(
      'DOCUMENT_TOO_LARGE',
      `${name} has ${bytes.length} bytes; at most ${bounds.maxFileBytes} are read.`,
      'Split it, or save the text alone.',
    );
  const answer = await extract(kind, bytes, bounds);
  if (!answer.ok) return refuse(answer.code, `${name}: ${answer.message}`, answer.remedy);
  return toReadableText(answer.text, name, 'text/plain');
}

async function extract(kind: 'pdf' | 'docx', bytes: Uint8Array, bounds: Bounds): Promise<Answer> {
  const worker = new Worker(new URL('./extract-main.ts', import.meta.url), {
    workerData: { kind, bytes: Uint8Array.from(bytes), bounds },
    resourceLimits: { maxOldGenerationSizeMb: bounds.maxHeapMb },
    // What a parser has to say about a broken file is in its answer.
    stdout: true,
    stderr: true,
  });
  const deadline = AbortSignal.timeout(bounds.maxMs);
  try {
    return await new Promise<Answer>((resolve) => {
      const fail = (code: DocumentError['code'], message: string) =>
        resolve({ ok: false, code, message, remedy: 'Save the text alone and submit that.' });
      deadline.addEventListener('abort', () =>
        fail('DOCUMENT_TIMEOUT', `It could not be read within ${bounds.maxMs} ms.`),
      );
      worker.once('message', (message) => resolve(Answer.parse(message)));
      worker.once('error', () => fail('DOCUMENT_TOO_LARGE', `It needs more than ${bounds.maxHeapMb} MB to be read.`));
      worker.once('exit', () => fail('DOCUMENT_DAMAGED', 'It ended the thread that read it.'));
    });
  } finally {
    await worker.terminate();
  }
}
