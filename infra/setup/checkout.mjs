import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of this checkout. */
export const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** What belongs to this checkout alone and is not committed. */
export const stateFolder = join(checkout, '.cleanslate');

/** The Node that the workspace pins; there once the packages are. */
export const pinnedNode = join(checkout, 'node_modules', 'node', 'bin', 'node');
