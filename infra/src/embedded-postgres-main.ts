import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { btree_gist } from '@electric-sql/pglite/contrib/btree_gist';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { pgcrypto } from '@electric-sql/pglite/contrib/pgcrypto';
import { vector } from '@electric-sql/pglite-pgvector';
import { serveEmbedded } from './embedded/embedded-server.ts';
import { isRunning } from './process-tree.ts';

// The embedded database is a process of its own: its WASM runs for as long as a query does and would stop the event
// loop of whoever hosts it.
const dir = process.env['EMBEDDED_DIR'];
const port = Number(process.env['EMBEDDED_PORT'] ?? '0');
const idleInTransactionMs = Number(process.env['EMBEDDED_IDLE_IN_TRANSACTION_MS'] ?? '30000');

const report = (event: string, details: object): void => console.log(JSON.stringify({ event, ...details }));

function fail(error: unknown): never {
  report('failed', { message: error instanceof Error ? error.message : String(error) });
  process.exit(1);
}

/** Two processes on one data folder would destroy it. */
function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'embedded.pid');
  try {
    const owner = Number(readFileSync(file, 'utf8'));
    if (owner !== process.pid && isRunning(owner))
      fail(new Error(`${folder} is in use by process ${owner}; if that is something else, delete ${file}`));
  } catch {
    // No one had it.
  }
  writeFileSync(file, String(process.pid));
  return () => rmSync(file, { force: true });
}

const unlock = dir === undefined ? () => {} : lockFolder(dir);
const database = await PGlite.create({
  ...(dir === undefined ? {} : { dataDir: join(dir, 'data') }),
  extensions: { vector, btree_gist, pg_trgm, pgcrypto },
}).catch(fail);
const server = await serveEmbedded(database, { port, idleInTransactionMs, onBroken: fail }).catch(fail);

async function shutDown(): Promise<void> {
  await server.close();
  await database.close();
  unlock();
  process.exit(0);
}

process.once('SIGTERM', () => {
  shutDown().catch(fail);
});
report('listening', { port: server.port });
