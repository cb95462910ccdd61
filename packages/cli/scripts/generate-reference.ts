import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toReference } from './reference.ts';

const folder = join(import.meta.dirname, '../../../docs/reference');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'cli.md'), toReference());
console.log('docs/reference/cli.md written');
