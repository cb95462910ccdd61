import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';

export type Block = { readonly kind: string; readonly text: string };

/** The code blocks of a document, in order. `kind` is what follows the fence: `sh`, `sh background`, `js`. */
export function readBlocks(path: string): readonly Block[] {
  const text = readFileSync(join(checkoutRoot, path), 'utf8');
  return [...text.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].map(([, kind = '', body = '']) => ({ kind, text: body }));
}
