import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@cleanslate/contracts';
import type { FastifyInstance } from 'fastify';
import type { AssetUrls } from './layout.ts';

const FOLDER = join(import.meta.dirname, 'assets');
const TYPES = {
  'style.css': 'text/css; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'login.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;
type AssetName = keyof typeof TYPES;

/**
 * The page's few files, as they are in the folder: nothing is built, nothing comes from elsewhere. Their addresses
 * change with their content.
 */
export function addAssets(app: FastifyInstance): AssetUrls {
  const files = new Map(Object.keys(TYPES).map((name) => [name, readFileSync(join(FOLDER, name))]));
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const { name } = request.params;
    const bytes = files.get(name);
    if (bytes === undefined) throw new AppError('NOT_FOUND', `there is no asset ${name.slice(0, 60)}`);
    const kept = request.url.includes('?v=') ? 'public, max-age=31536000, immutable' : 'public, max-age=3600';
    return reply
      .header('cache-control', kept)
      .type(TYPES[name as AssetName])
      .send(bytes);
  });
  const urlOf = (name: AssetName) =>
    `/assets/${name}?v=${createHash('sha256')
      .update(files.get(name) ?? '')
      .digest('hex')
      .slice(0, 12)}`;
  return { style: urlOf('style.css'), live: urlOf('live.js'), login: urlOf('login.js') };
}
