import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { type Chunk, readPieces } from './read-pieces.ts';

const client = new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:1/v1' });

async function read(body: string): Promise<readonly Chunk[]> {
  const response = new Response(body, { headers: { 'content-type': 'text/html; charset=utf-8' } });
  const pieces: Chunk[] = [];
  for await (const piece of readPieces(response, new AbortController(), client)) pieces.push(piece);
  return pieces;
}

test('a stream of events is read though a proxy calls it a page', async () => {
  const piece = { choices: [{ index: 0, delta: { content: 'yes' }, finish_reason: 'stop' }] };
  expect(await read(`data: ${JSON.stringify(piece)}\n\ndata: [DONE]\n\n`)).toMatchObject([piece]);
});

test('a page is a fault of the configuration, whatever stands before its first tag', async () => {
  await expect(read('\n  <!doctype html><p>Please log in.</p>')).rejects.toMatchObject({
    code: 'CONFIGURATION',
    disposition: 'pause',
  });
});
