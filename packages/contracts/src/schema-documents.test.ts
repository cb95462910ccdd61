import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRecordedMessages } from '../scripts/recorded-messages.ts';
import { toSchemaDocuments } from '../scripts/schema-documents.ts';
import { listMessages, schemaUrn, typeOf } from './index.ts';

type Check = (value: unknown) => boolean;
type AjvClass = new (options: object) => { compile(schema: object): Check };

// The validator that the official CloudEvents package brings, so that the schemas are read by another hand than zod's.
// Formats are told by patterns too.
const { default: Ajv } = createRequire(createRequire(import.meta.url).resolve('cloudevents'))('ajv/dist/2020') as {
  default: AjvClass;
};
const ajv = new Ajv({ strict: true, strictTypes: false, validateFormats: false, addUsedSchema: false });

const folder = join(import.meta.dirname, '../../../docs/schemas');
const documents = toSchemaDocuments();
const committed = readdirSync(folder).filter((name) => name.endsWith('.json'));
const parse = (text: string) => JSON.parse(text) as Record<string, unknown>;

describe('docs/schemas is what the code says today (else: node packages/contracts/scripts/generate-schemas.ts)', () => {
  it('has each document and no other', () => expect(committed.sort()).toEqual([...documents.keys()].sort()));

  it.each([...documents])('%s', (name, text) => {
    expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
  });
});

describe.each(listMessages().map((message) => typeOf(message)))('schema of %s', (type) => {
  const schema = parse(documents.get(`${type}.json`) ?? '{}');
  const check = ajv.compile(schema);
  const recorded = readRecordedMessages().filter((message) => message.type === type);

  it('is draft 2020-12 under the name that each message carries in dataschema', () => {
    expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', $id: schemaUrn(type) });
    expect(schema['examples']).toHaveLength(recorded.length);
  });

  it.each(recorded)('takes the recorded $name, and refuses it with a fault', ({ bytes }) => {
    const event = parse(new TextDecoder().decode(bytes));
    expect(check(event)).toBe(true);
    expect(check({ ...event, partitionkey: 'an extension attribute' })).toBe(true);
    expect(check({ ...event, type: 'other.v1' })).toBe(false);
    expect(check({ ...event, tenantid: 'a.b' })).toBe(false);
    expect(check({ ...event, data: { ...(event['data'] as object), unknown: 1 } })).toBe(false);
    expect(check({ ...event, data: undefined })).toBe(false);
  });
});

describe('asyncapi.json', () => {
  const document = parse(documents.get('asyncapi.json') ?? '{}') as {
    channels: Record<string, { address: string | null; parameters?: object }>;
    operations: Record<string, unknown>;
  };

  it('refers to nothing that is not there', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target = '']) => target);
    expect(references.length).toBeGreaterThan(100);
    for (const reference of new Set(references)) {
      if (reference.startsWith('./')) expect(documents.has(reference.slice(2))).toBe(true);
      else expect([reference, resolve(document, reference)]).not.toEqual([reference, undefined]);
    }
  });

  it('explains each parameter of an address', () => {
    for (const { address, parameters = {} } of Object.values(document.channels)) {
      const named = [...(address ?? '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      expect(Object.keys(parameters)).toEqual(named);
      for (const parameter of Object.values(parameters)) expect(parameter).toHaveProperty('description');
    }
  });

  it('says what a tenant’s own client may do, and leaves no channel without a sender and a receiver', () => {
    const names = Object.keys(document.operations);
    expect(names.filter((name) => name.startsWith('tenant.') && !/\.(qry|ctl)\./.test(name))).toEqual([
      'tenant.send.cmd.task',
      'tenant.receive.evt.task',
      'tenant.receive.evt.knowledge',
      'tenant.receive.prg',
    ]);
    for (const channel of Object.keys(document.channels).filter((id) => !id.endsWith('.reply')))
      for (const action of ['send', 'receive'])
        expect(names.filter((name) => name.endsWith(`.${action}.${channel}`))).not.toEqual([]);
  });
});

function resolve(document: unknown, reference: string): unknown {
  let value = document;
  for (const key of reference.slice('#/'.length).split('/'))
    value = (value as Record<string, unknown> | undefined)?.[key];
  return value;
}
