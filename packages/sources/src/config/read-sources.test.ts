import { describe, expect, it } from 'vitest';
import { openSources } from './open-sources.ts';
import { readSources } from './read-sources.ts';
import { variablesOf } from './variables-of.ts';

const read = (yaml: string) => readSources(new TextEncoder().encode(yaml), 'sources.yaml');
const faultsOf = (yaml: string): string => {
  try {
    read(yaml);
  } catch (error) {
    expect(error).toMatchObject({ code: 'CONFIGURATION', disposition: 'terminal' });
    return String(error);
  }
  throw new Error('it was accepted');
};
const FILES = 'sources:\n  - name: handbook\n    kind: files\n    title: Handbook\n    folder: docs\n';
const HTTP = `sources:
  - name: crm
    kind: http
    title: CRM
    url: https://crm.example.com/v1/{customer}
    items: /data
    params: [{ name: customer, description: a name }]
    evidence: { content: "{/name}", locator: "{/id}" }
`;

describe('the file of sources', () => {
  it('is YAML or JSON, with defaults', () => {
    const [source] = read(FILES);
    expect(source).toMatchObject({ kind: 'files', accessLevel: 'internal', timeoutMs: 5_000, maxFiles: 2_000 });
    expect(
      read(JSON.stringify({ sources: [{ name: 'handbook', kind: 'files', title: 'Handbook', folder: 'docs' }] })),
    ).toEqual([source]);
    expect(read(HTTP)[0]).toMatchObject({ method: 'GET', params: [{ type: 'string', required: true }] });
  });

  it.each([
    ['an unknown field', FILES.replace('folder', 'foldre'), /sources\.yaml:\d+ \(sources\.0.*\).*foldre/],
    [
      'an unknown kind',
      FILES.replace('files', 'ftp'),
      /sources\.yaml:3 \(sources\.0\.kind\): .*files, sql, http, qdrant or confluence/,
    ],
    [
      'a number that is none',
      `${FILES}    timeoutMs: soon\n`,
      /sources\.yaml:6 \(sources\.0\.timeoutMs\): must be a whole number from 100 to 120000/,
    ],
    ['a name that is taken', `${FILES}${FILES.replace('sources:\n', '')}`, /sources\.yaml:6 .*name.*taken/],
    ['the knowledge base', FILES.replace('handbook', 'knowledge'), /name.*knowledge base/],
    ['a parameter nobody declared', HTTP.replace('name: customer', 'name: client'), /url\): uses \{customer\}/],
    ['a host that a value chooses', HTTP.replace('crm.example.com', '{customer}'), /url\): must begin with/],
    ['a password in a URL', HTTP.replace('https://', 'https://user:canary@'), /url\): must begin with/],
    [
      'a credential among the headers',
      `${HTTP}    headers: { authorization: "Bearer canary" }\n`,
      /headers\): may hold no credentials/,
    ],
    [
      'a secret under a name that logs show',
      `${HTTP}    auth: { type: bearer, tokenFrom: CRM_PASS }\n`,
      /tokenFrom\): must name a variable that ends in/,
    ],
    [
      'a default of another type',
      HTTP.replace('description: a name', 'description: a number, type: integer, default: many'),
      /params\): .*whole number/,
    ],
    ['nothing', '', /it is empty: write sources/],
    ['no YAML', 'sources: [', /sources\.yaml:1/],
  ])('%s is refused with line, field and remedy', (_what, yaml, message) => {
    const faults = faultsOf(yaml);
    expect(faults).toMatch(message);
    expect(faults).not.toContain('canary');
  });

  it('all faults are told at once', () => {
    const faults = faultsOf(`${FILES}    timeoutMs: soon\n    maxFiles: many\n    accessLevel: secret\n`);
    for (const field of ['timeoutMs', 'maxFiles', 'accessLevel']) expect(faults).toContain(field);
  });

  it.each([
    ['uses what is not declared', 'SELECT 1 WHERE $1 = $2', /\$2/],
    ['leaves one out', 'SELECT 1', /does not use supplier/],
  ])('a query that %s is refused', (_what, query, message) => {
    expect(
      faultsOf(
        `sources:\n  - { name: erp, kind: sql, title: ERP, urlFrom: ERP_URL, query: "${query}", params: [{ name: supplier, description: a name }], evidence: { content: "{a}", locator: "{b}" } }\n`,
      ),
    ).toMatch(message);
  });
});

describe('opened sources', () => {
  const open = (yaml: string, env = {}) =>
    openSources({ settings: read(yaml), file: '/etc/cleanslate/sources.yaml', env });

  it('are those of the tenant; another one’s is unknown, not forbidden', () => {
    const sources = open(`${FILES}    tenants: [acme]\n${HTTP.replace('sources:\n', '')}`);
    expect(sources.list('acme').map(({ name }) => name)).toEqual(['handbook', 'crm']);
    expect(sources.list('globex').map(({ name }) => name)).toEqual(['crm']);
    const refusal = (name: string) => {
      try {
        sources.get('globex', name);
      } catch (error) {
        return String(error).replaceAll(name, 'NAME');
      }
      return 'given';
    };
    expect(refusal('handbook')).toBe(refusal('nonsense'));
    expect(refusal('handbook')).toContain('crm');
  });

  it('need the variables that the file names, and never tell what is in them', () => {
    const yaml = `${HTTP}    auth: { type: bearer, tokenFrom: CRM_TOKEN }\n`;
    expect(() => open(yaml)).toThrow(/CRM_TOKEN, which is not set/);
    expect(() => open(yaml, { CRM_TOKEN: 'canary\nbreak' })).toThrow(/CRM_TOKEN holds a character/);
    expect(() => open(yaml, { CRM_TOKEN: 'canary\nbreak' })).not.toThrow(/canary/);
  });

  it('name the variables that whoever asks them needs', () => {
    const sql = `  - { name: erp, kind: sql, title: ERP, urlFrom: ERP_URL, query: SELECT 1, evidence: { content: "{a}", locator: "{b}" } }\n`;
    const again = HTTP.replace('sources:\n', '').replace('name: crm', 'name: crm-2');
    const auth = '    auth: { type: bearer, tokenFrom: CRM_TOKEN }\n';
    expect(variablesOf(read(`${FILES}${sql}${HTTP.replace('sources:\n', '')}${auth}${again}${auth}`))).toEqual([
      'ERP_URL',
      'CRM_TOKEN',
    ]);
  });

  it('say what they take', () => {
    const [source] = open(HTTP).list('acme');
    expect(source?.metadata()).toEqual({
      name: 'crm',
      kind: 'http',
      title: 'CRM',
      accessLevel: 'internal',
      freshness: 'live',
      params: [{ name: 'customer', type: 'string', required: true, description: 'a name' }],
    });
  });
});
