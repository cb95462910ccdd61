import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toSchemaDocuments } from './schema-documents.ts';

// Writes docs/schemas anew: the JSON Schema of every message and the AsyncAPI document. The same
// sources give the same bytes.
const folder = join(import.meta.dirname, '../../../docs/schemas');
const documents = toSchemaDocuments();

mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) {
  if (name.endsWith('.json') && !documents.has(name)) rmSync(join(folder, name));
}
for (const [name, text] of documents) writeFileSync(join(folder, name), text);
console.log(`${documents.size} documents written to docs/schemas`);
