import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ModelReply } from './model-reply.ts';
import { startModelServer } from './model-server.ts';

// node packages/testing/src/models/model-server-main.ts [port] [replies.json]: an OpenAI-compatible server to try
// things out. The file holds a list of replies, as `ModelReply` says, used up in order; the last one stays.

const [port = '11500', file] = process.argv.slice(2);
const replies =
  file === undefined ? [{ content: '{}' }] : z.array(z.looseObject({})).parse(JSON.parse(readFileSync(file, 'utf8')));
const server = await startModelServer({ port: Number(port), script: replies as readonly ModelReply[] });
process.stdout.write(`MODEL=simulated MODEL_URL=${server.url}\n`);
