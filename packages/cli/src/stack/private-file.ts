import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { parseJson, toAppError } from '@cleanslate/contracts';
import type { z } from 'zod';
import { inputError } from '../input-error.ts';

/** A JSON file of ours; undefined if it doesn't exist. Throws if it can't be read as what we wrote. */
export async function readJsonFile<S extends z.ZodType>(file: string, schema: S): Promise<z.infer<S> | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw toAppError(error);
  }
  try {
    return schema.parse(parseJson(bytes, file));
  } catch (error) {
    throw inputError(
      {
        code: 'CONFIGURATION',
        what: 'this file is damaged',
        where: file,
        remedy: 'delete it; `slate up` writes it again',
      },
      error,
    );
  }
}

/** Whole or not at all, readable only by its owner: these files contain passwords. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
