import { AppError } from '@cleanslate/contracts';
import { z } from 'zod';

/** A whole number in plain digits: `abc`, ``, `-1`, `1e9`, `NaN` and `Infinity` are refused, not read as "no limit". */
export function wholeNumber(range: { readonly min?: number; readonly max: number }) {
  const { min = 0, max } = range;
  const text = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^[0-9]{1,15}$/, text)
    .transform(Number)
    .refine((value) => value >= min && value <= max, text);
}

/** A URL with one of the protocols. The value is never repeated in an error: it may hold a password. */
export function urlOf(...protocols: string[]) {
  const text = `must be a URL that starts with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`;
  return z.string().refine((value) => isUrl(value, protocols), text);
}

const LogLevel = z.enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent');

/** What every service reads. Error messages show the descriptions as the remedy. */
export const baseConfig = z.object({
  NATS_URL: z
    .string()
    .refine((value) => value.split(',').every((url) => isUrl(url.trim(), ['nats', 'tls'])), {
      message: 'must be one or more nats:// or tls:// URLs, separated by commas',
    })
    .describe('address of the broker, e.g. nats://127.0.0.1:4222'),
  NATS_USER: z.string().optional().describe("user name at the broker; default: the service's principal"),
  NATS_PASSWORD: z.string().optional().describe('password at the broker'),
  LOG_LEVEL: LogLevel.default('info').describe('debug, info, warn, error or silent'),
  HEALTH_HOST: z.string().default('127.0.0.1').describe('address of the health server; 0.0.0.0 in a container'),
  HEALTH_PORT: wholeNumber({ max: 65_535 }).default(0).describe('port of the health server; 0: any free one'),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf('http', 'https')
    .optional()
    .describe('OTLP/HTTP collector to send traces to, e.g. http://otel-collector:4318; unset: none are sent'),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .transform(
      (text, context) => parseHeaderList(text) ?? context.addIssue('must be name=value pairs, separated by commas'),
    )
    .pipe(z.record(z.string(), z.string()))
    .optional()
    .describe('headers for the collector, e.g. authorization=Bearer%20…'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(?:0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1)
    .describe('share of the traces begun here that is recorded, 0 to 1'),
  GRACE_MS: wholeNumber({ max: 600_000 }).default(25_000).describe('how long running work may take after SIGTERM'),
});

/** Spread into the schema of a service that reads messages which belong to no attempt. */
export const rolloutConfig = {
  ROLLOUT_MS: wholeNumber({ min: 1_000, max: 86_400_000 })
    .default(3_600_000)
    .describe('how long a message of a newer version waits for a reader that knows it before it becomes a dead letter'),
};

/** Spread into the schema of a service that has a database. */
export const databaseConfig = {
  DATABASE_URL: urlOf('postgres', 'postgresql').describe("address of the database with this service's own role"),
};

/**
 * Environment → frozen configuration. Throws one `CONFIGURATION` error that lists every fault with the variable and
 * what to set; values are never repeated in it.
 */
export function parseConfig<S extends z.ZodObject>(
  schema: S,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<z.infer<S>> {
  const faults: string[] = [];
  const given: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = env[name];
    if (value === undefined) continue;
    if (value.trim() === '') faults.push(`${name} is set but empty: ${remedy(schema, name)}, or unset it`);
    else given[name] = value;
  }
  const parsed = schema.safeParse(given);
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0] ?? 'configuration');
    if (faults.some((fault) => fault.startsWith(`${name} `))) continue;
    faults.push(given[name] === undefined ? `${name} is missing: ${remedy(schema, name)}` : `${name} ${issue.message}`);
  }
  if (parsed.success && faults.length === 0) return Object.freeze(parsed.data);
  throw new AppError('CONFIGURATION', `configuration:\n${faults.map((fault) => `  ${fault}`).join('\n')}`, {
    details: { faults },
  });
}

/** OpenTelemetry's format: `name=value,name=value`, values percent-encoded. */
function parseHeaderList(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    if (at < 1 || !/^[!#-9;-~]+$/.test(name)) return undefined;
    try {
      headers[name] = decodeURIComponent(pair.slice(at + 1).trim());
    } catch {
      return undefined;
    }
  }
  return headers;
}

function remedy(schema: z.ZodObject, name: string): string {
  return `set ${schema.shape[name]?.description ?? 'it'}`;
}

function isUrl(value: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return protocols.includes(url.protocol.replace(/:$/, '')) && url.hostname !== '';
}
