import type { FactImportSet, RequestOf } from '@cleanslate/contracts';
import { HOW_TO_SPLIT, parsePolicySet } from '@cleanslate/workflows';
import { readBytes } from './read-bytes.ts';

/** Throws before anything is sent, naming file, line, field and remedy. */
export async function readPolicySet(file: string): Promise<RequestOf<typeof FactImportSet>> {
  return parsePolicySet(await readBytes(file, '<file>', { split: HOW_TO_SPLIT }), file === '-' ? 'stdin' : file);
}
