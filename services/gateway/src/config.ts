import { isIP } from 'node:net';
import { embeddingConfig } from '@cleanslate/llm';
import { baseConfig, databaseConfig, wholeNumber } from '@cleanslate/runtime';
import { z } from 'zod';

const ORIGINS = /^https?:\/\/[^/,\s]+(,\s*https?:\/\/[^/,\s]+)*$/;
/** Networks that have a name. */
const PROXY_NETWORKS = new Set(['loopback', 'linklocal', 'uniquelocal']);

export const gatewayConfig = baseConfig.extend({
  ...databaseConfig,
  ...embeddingConfig,
  DATABASE_POOL: wholeNumber({ min: 1, max: 100 }).default(8).describe('database connections of this process'),
  HTTP_HOST: z.string().default('127.0.0.1').describe('address of the HTTP API; 0.0.0.0 in a container'),
  HTTP_PORT: wholeNumber({ max: 65_535 }).default(8080).describe('port of the HTTP API; 0: any free one'),
  TRUST_PROXY: z
    .string()
    .refine(
      areProxies,
      'must be addresses or ranges such as 10.0.0.0/8, or loopback, linklocal, uniquelocal, separated by commas',
    )
    .optional()
    .describe(
      'proxies in front of this API whose X-Forwarded-For names the client, separated by commas; default none: wrong keys are counted per connecting address',
    ),
  CORS_ORIGINS: z
    .string()
    .regex(ORIGINS, 'must be origins such as https://app.example.com, separated by commas')
    .optional()
    .describe('origins whose browsers may call the API, separated by commas; default none'),
  SESSION_SECRET: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe(
      'seals the sessions of the page, the same for all replicas; default: a random one, so that sessions end with the process',
    ),
  RATE_PER_SECOND: wholeNumber({ min: 1, max: 1_000_000 })
    .default(200)
    .describe('requests per second of one tenant, at this replica'),
  RATE_BURST: wholeNumber({ min: 1, max: 1_000_000 }).default(400).describe('requests of one tenant at once'),
  SUBMIT_TIMEOUT_MS: wholeNumber({ min: 100, max: 300_000 })
    .default(10_000)
    .describe('how long POST /v1/tasks waits for the ledger'),
  MAX_STREAMS: wholeNumber({ min: 1, max: 100_000 }).default(1_000).describe('event streams open at once'),
  MAX_STREAMS_PER_TENANT: wholeNumber({ min: 1, max: 100_000 })
    .optional()
    .describe('event streams of one tenant open at once; default a quarter of MAX_STREAMS'),
});

function areProxies(list: string): boolean {
  return list.split(',').every((each) => {
    const [address = '', bits, ...more] = each.trim().split('/');
    const version = isIP(address);
    if (version === 0) return PROXY_NETWORKS.has(each.trim());
    return (
      more.length === 0 &&
      (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= (version === 4 ? 32 : 128)))
    );
  });
}
