import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stateFolder } from './checkout.mjs';

/** Where the TypeScript side reads what was chosen. */
const toolchainFile = join(stateFolder, 'toolchain.json');

/** Adds the choices made now to those recorded earlier (the demo does not look for the real database, for instance). */
export async function recordToolchain(choices) {
  await mkdir(stateFolder, { recursive: true });
  const recorded = await readFile(toolchainFile, 'utf8')
    .then(JSON.parse)
    .catch(() => ({}));
  const made = Object.fromEntries(Object.entries(choices).filter(([, choice]) => choice !== undefined));
  const text = `${JSON.stringify({ ...recorded, ...made }, null, 2)}\n`;
  const draft = `${toolchainFile}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, toolchainFile);
}
