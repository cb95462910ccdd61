import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { DocumentFault } from './document-fault.ts';
import { readDocxText } from './docx-text.ts';
import { readPdfText } from './pdf-text.ts';

const Job = z.object({
  kind: z.enum(['pdf', 'docx']),
  bytes: z.instanceof(Uint8Array),
  bounds: z.object({
    maxFileBytes: z.number(),
    maxPages: z.number(),
    maxInflatedBytes: z.number(),
    maxRatio: z.number(),
    maxTextBytes: z.number(),
    maxMs: z.number(),
    maxHeapMb: z.number(),
  }),
});

/** The parsers run in a thread of their own, which is ended when it takes too long or uses too much. */
async function main(): Promise<void> {
  const { kind, bytes, bounds } = Job.parse(workerData);
  try {
    const text = kind === 'pdf' ? await readPdfText(bytes, bounds) : await readDocxText(bytes, bounds);
    parentPort?.postMessage({ ok: true, text });
  } catch (error) {
    const fault =
      error instanceof DocumentFault
        ? error
        : new DocumentFault(
            'DOCUMENT_DAMAGED',
            `The file cannot be read as ${kind === 'pdf' ? 'a PDF' : 'a Word file'}.`,
            'Open it and save it again.',
          );
    parentPort?.postMessage({ ok: false, code: fault.code, message: fault.message, remedy: fault.remedy });
  }
}

await main();
