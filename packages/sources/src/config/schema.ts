import { AccessLevel, KnowledgeType, TenantId } from '@cleanslate/contracts';
import { SourceMetadata, SourceParam } from '@cleanslate/domain';
import { z } from 'zod';
import { flag, httpUrl, secretName, urlName, wholeNumber } from './scalars.ts';
import { jsonTemplate, mapping, template, urlTemplate } from './templates.ts';

const KB = 1_024;
const MB = 1_024 * KB;

const param = z.strictObject({
  name: SourceParam.shape.name,
  type: SourceParam.shape.type.default('string'),
  required: flag.default(true),
  description: z.string().min(1).max(300),
  maxLength: wholeNumber(1, 2_000).optional(),
  oneOf: z.array(z.string().max(500)).min(1).max(100).optional(),
  default: z.string().max(2_000).optional(),
});
const params = z
  .array(param)
  .max(20)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'has a name twice');

/** What every source has. */
const common = {
  name: SourceMetadata.shape.name,
  /** Shown to planners and people. */
  title: z.string().min(1).max(300),
  accessLevel: AccessLevel.default('internal'),
  /**
   * How its texts are cleaned: `clause`, `rule` and `definition` keep every word; others lose words of doubt, and say
   * so.
   */
  knowledgeType: KnowledgeType.default('other'),
  /** Default: all. */
  tenants: z.array(TenantId).min(1).max(1_000).optional(),
  timeoutMs: wholeNumber(100, 120_000).default(5_000),
  /** All evidence of one answer together. */
  maxChars: wholeNumber(500, 400_000).default(40_000),
};

/** What every source over HTTP has. */
const http = {
  /** `name` or `name:port` of its hosts that have private addresses. */
  privateHosts: z
    .array(z.string().regex(/^[a-z0-9.:-]{1,260}$/i, 'must be a host, or host:port'))
    .max(20)
    .default([]),
  maxBytes: wholeNumber(KB, 8 * MB).default(MB),
};

const bearer = z.strictObject({ type: z.literal('bearer'), tokenFrom: secretName });
const basic = z.strictObject({ type: z.literal('basic'), user: z.string().min(1).max(200), passwordFrom: secretName });
const header = z.strictObject({
  type: z.literal('header'),
  name: z.string().regex(/^[A-Za-z0-9-]{1,60}$/, 'must be the name of a header'),
  valueFrom: secretName,
});
const auth = z.discriminatedUnion('type', [bearer, basic, header]);
export type AuthSettings = z.infer<typeof auth>;

/** Authentication headers belong under `auth`. */
const headers = z
  .record(
    z.string().regex(/^[A-Za-z0-9-]{1,60}$/),
    z
      .string()
      .max(500)
      .regex(/^[^\r\n]*$/),
  )
  .refine(
    (given) => !Object.keys(given).some((name) => /auth|cookie|token|api-?key|secret/i.test(name)),
    'may hold no credentials: name them under auth',
  )
  .default({});

const files = z.strictObject({
  kind: z.literal('files'),
  ...common,
  /** Relative to the file's own folder. */
  folder: z.string().min(1).max(1_000),
  maxFiles: wholeNumber(1, 20_000).default(2_000),
  maxFileBytes: wholeNumber(KB, 64 * MB).default(16 * MB),
  /** Limit on all files together, in characters; with its search index it takes six times that in memory. */
  maxText: wholeNumber(KB, 64 * MB).default(8 * MB),
});

const sql = z.strictObject({
  kind: z.literal('sql'),
  ...common,
  urlFrom: urlName,
  query: z.string().min(1).max(20_000),
  params: params.default([]),
  evidence: mapping,
  maxBytes: wholeNumber(KB, 64 * MB).default(MB),
  poolSize: wholeNumber(1, 20).default(2),
});

const httpJson = z.strictObject({
  kind: z.literal('http'),
  ...common,
  ...http,
  url: urlTemplate,
  method: z.enum(['GET', 'POST']).default('GET'),
  headers,
  auth: auth.optional(),
  body: jsonTemplate.optional(),
  params: params.default([]),
  items: z.string().regex(/^(?:\/.*)?$/, 'must be a JSON pointer such as /results, or empty for the whole answer'),
  evidence: mapping,
  emptyOn404: flag.default(false),
});

const qdrantFilter = z.union([
  z.strictObject({ key: z.string().min(1).max(200), value: z.string().max(500) }),
  z.strictObject({ key: z.string().min(1).max(200), param: SourceParam.shape.name }),
]);
const qdrant = z.strictObject({
  kind: z.literal('qdrant'),
  ...common,
  ...http,
  url: httpUrl,
  collection: z.string().min(1).max(255),
  auth: auth.optional(),
  vector: z.string().min(1).max(200).optional(),
  /** The model that filled it; it must be this retriever's EMBEDDING_MODEL. */
  embeddingModel: z.string().min(1).max(200),
  tenantField: z.string().min(1).max(200).optional(),
  filters: z.array(qdrantFilter).max(20).default([]),
  params: params.default([]),
  minScore: z
    .string()
    .regex(/^-?\d{1,6}(?:\.\d{1,6})?$/, 'must be a number')
    .transform(Number)
    .optional(),
  evidence: mapping.extend({ content: template, locator: template.optional() }),
});

const confluence = z.strictObject({
  kind: z.literal('confluence'),
  ...common,
  ...http,
  maxBytes: wholeNumber(KB, 8 * MB).default(4 * MB),
  url: httpUrl,
  auth: auth.optional(),
  spaces: z.array(z.string().min(1).max(255)).max(100).default([]),
  labels: z.array(z.string().min(1).max(255)).max(100).default([]),
  maxPages: wholeNumber(1, 100).default(20),
});

export const SourceSettings = z.discriminatedUnion(
  'kind',
  [files, sql, httpJson, qdrant, confluence],
  'kind must be files, sql, http, qdrant or confluence',
);
export type SourceSettings = z.infer<typeof SourceSettings>;
export type SettingsOf<K extends SourceSettings['kind']> = Extract<SourceSettings, { kind: K }>;

export const SourcesFile = z.strictObject({ sources: z.array(SourceSettings).min(1).max(100) });
