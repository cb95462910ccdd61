import type { FactImportSet, RequestOf } from '@cleanslate/contracts';
import { parsePolicySet } from '@cleanslate/workflows';
import { readBytes } from './read-bytes.ts';

/** Throws before anything is sent, naming file, line, field and remedy. */
export async function readPolicySet(file: string): Promise<RequestOf<typeof FactImportSet>> {
  return parsePolicySet(await readBytes(file, '<file>'), file === '-' ? 'stdin' : file);
}
