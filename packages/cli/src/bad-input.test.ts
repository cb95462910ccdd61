import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from './run.ts';

/** Nobody listens there: whatever ends with 2 was found before anything was sent. */
const NOWHERE = { NATS_URL: 'nats://127.0.0.1:9', NATS_PASSWORD: 'x', NO_COLOR: '1' };

async function slate(args: readonly string[], env: Record<string, string>) {
  let stdout = '';
  let stderr = '';
  const code = await run(args, {
    env,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    signal: new AbortController().signal,
  });
  return { code, stdout, stderr };
}

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'slate-input-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const SAMPLE = join(import.meta.dirname, '../../../infra/samples/contract-en.md');
const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Payment within 30 days.', 'utf16le')]);
const gb18030 = Buffer.from([0xba, 0xcf, 0xcd, 0xac, 0xb8, 0xb6, 0xbf, 0xee]);
const POLICY = `policySet: { name: p, source: "policy:p" }
facts:
  - id: a
    subject: contract.payment_term
    predicate: max_days
    unit: days
    modality: must
    knowledgeType: rule
    periods:
`;
const period = (from: string, until: string) =>
  `      - { validFrom: ${from}, validUntil: ${until}, value: "30", statement: "Pay within 30 days." }\n`;

test('a device without an end is read up to the limit, not for ever', async () => {
  const ran = await slate(['submit', 'contract-review', '--input', '/dev/zero'], NOWHERE);
  expect(ran.code, ran.stderr).toBe(2);
  expect(ran.stderr).toContain('PAYLOAD_TOO_LARGE');
});

describe('a file that can not be used: exit 2, what, where and what to do, before anything is sent', () => {
  test.each<[name: string, file: string, bytes: string | Uint8Array | null, command: string[], says: string[]]>([
    [
      'no such file',
      'none.md',
      null,
      ['submit', 'contract-review', '--input'],
      ['there is no file', '--input', 'path'],
    ],
    ['empty', 'empty.md', '', ['submit', 'contract-review', '--input'], ['empty', '--input', 'Send its text']],
    ['blank', 'blank.txt', ' \n\t\n', ['submit', 'contract-review', '--input'], ['only blanks', '--input']],
    ['a broken PDF', 'a.pdf', '%PDF-1.7\n%âãÏÓ', ['submit', 'contract-review', '--input'], ['PDF', 'mutool']],
    ['NUL', 'nul.txt', 'Pay\0 within 30 days', ['submit', 'contract-review', '--input'], ['NUL', '--input']],
    ['binary', 'b.md', Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2]), ['submit', 'contract-review', '--input'], ['PNG']],
    ['UTF-16', 'w.txt', utf16, ['submit', 'contract-review', '--input'], ['UTF-16', 'iconv']],
    ['GB18030', 'g.txt', gb18030, ['submit', 'contract-review', '--input'], ['not UTF-8', 'iconv -f GB18030']],
    ['5 MB', 'big.md', 'x'.repeat(5_000_000), ['submit', 'contract-review', '--input'], ['5000000 bytes', 'Split']],
    ['9 MB', 'huge.md', 'x'.repeat(9_000_000), ['submit', 'contract-review', '--input'], ['9000000 bytes', 'split']],
    [
      'another kind of file',
      'a.docx',
      'text',
      ['submit', 'contract-review', '--input'],
      ['none of .txt, .md, .docx, .pdf'],
    ],
    ['no JSON', 'a.json', '{', ['submit', 'noop', '--input'], ['not JSON', '--input']],
    ['a JSON list', 'l.json', '[]', ['submit', 'noop', '--input'], ['no JSON object']],
    ['__proto__', 'p.json', '{"__proto__":{"x":1}}', ['submit', 'noop', '--input'], ['__proto__']],
    [
      'deep JSON',
      'd.json',
      `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
      ['submit', 'noop', '--input'],
      ['nested deeper'],
    ],
    ['NUL in JSON', 'n.json', '{"a":"\\u0000"}', ['submit', 'noop', '--input'], ['NUL']],
    ['malformed YAML', 'm.yaml', 'facts: [', ['fact', 'import'], ['m.yaml:1', 'to do']],
    ['an empty policy set', 'e.yaml', '', ['fact', 'import'], ['empty', 'e.yaml']],
    [
      'unknown key in YAML',
      'u.yaml',
      'policySet: { name: p, source: "policy:p", color: red }\nfacts: []\n',
      ['fact', 'import'],
      ['color', 'u.yaml:1'],
    ],
    ['__proto__ in YAML', 'q.yaml', 'policySet: { __proto__: 1 }\n', ['fact', 'import'], ['__proto__']],
    [
      'overlapping ranges',
      'o.yaml',
      `${POLICY}${period('2024-01-01', '2025-01-01')}${period('2024-06-01', 'null')}`,
      ['fact', 'import'],
      ['o.yaml:', 'facts.0.periods', 'to do'],
    ],
  ])('%s', async (_name, file, bytes, command, says) => {
    const path = join(dir, file);
    if (bytes !== null) await writeFile(path, bytes);
    const ran = await slate([...command, path], NOWHERE);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    for (const text of [...says, 'where:']) expect(ran.stderr).toContain(text);
  });
});

describe('bad usage: exit 2', () => {
  test.each<[args: string[], says: string]>([
    [['nonsense'], "unknown command 'nonsense'"],
    [['submit'], "missing required argument 'workflow'"],
    [['submit', '--input', 'a.md'], "missing required argument 'workflow'"],
    [['submit', 'contract-review'], '--input'],
    [['submit', 'Bad.Workflow', '--input', '-'], 'workflow'],
    [['submit', 'noop', '--input', '-', '--deadline', 'soon'], '90s, 10m, 2h, 1d'],
    [['submit', 'noop', '--input', '-', '--deadline', '50ms'], 'where: --deadline'],
    [['task', 'retry', 'a', '--deadline', '31d'], 'write 100ms to 30d'],
    [['submit', 'noop', '--input', '-', '--valid-at', '2024-07-01T10:00'], 'with its zone'],
    [['submit', 'noop', '--input', '-', '--priority', 'urgent'], 'low, normal, high'],
    [['task', 'list', '--state', 'lost'], 'pending'],
    [['task', 'list', '--limit', 'many'], 'whole number'],
    [['task', 'list', '--limit', '0'], 'above 0'],
    [['topology', 'apply', '--replicas', '0'], 'above 0'],
    [['task', 'watch', '--after', 'here'], '<epoch>-<position>'],
    [['submit', 'noop', '--input', SAMPLE, '--tenant', 'a.>'], '--tenant'],
  ])('slate %j', async (args, says) => {
    const ran = await slate(args, NOWHERE);
    expect(ran.code, ran.stderr).toBe(2);
    expect(ran.stderr).toContain(says);
  });

  test('with --json the error is one document on stdout', async () => {
    const ran = await slate(['submit', 'noop', '--input', join(dir, 'none.json'), '--json'], NOWHERE);
    expect(ran).toMatchObject({ code: 2, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      error: { code: 'INVALID_INPUT', details: { where: '--input', remedy: expect.any(String) } },
    });
  });
});

describe('nobody there: exit 3, with what to do', () => {
  test.each<[args: string[], env: Record<string, string>, says: string]>([
    [['task', 'list'], { CLEANSLATE_HOME: '/nonexistent' }, 'slate up --detach'],
    [['task', 'list'], NOWHERE, 'check NATS_URL'],
    // Taken as an empty input, so that it comes as far as the broker.
    [['submit', 'noop'], NOWHERE, 'check NATS_URL'],
    [['topology', 'diff'], NOWHERE, 'check NATS_URL'],
    [['migrate'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }, 'DATABASE_URL'],
    [['migrate'], { CLEANSLATE_HOME: '/nonexistent' }, 'DATABASE_URL'],
    [['doctor'], { ...NOWHERE, CLEANSLATE_HOME: '/nonexistent' }, ''],
  ])('slate %j', async (args, env, says) => {
    const ran = await slate(args, env);
    expect(ran.code, ran.stderr).toBe(3);
    expect(ran.stdout + ran.stderr).toContain(says);
  });
});

test.each(['--help', 'submit --help', 'task watch --help', 'fact as-of --help', 'up --help', 'dlq replay --help'])(
  'slate %s shows an example',
  async (args) => {
    const ran = await slate(args.split(' '), {});
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stdout).toMatch(/Examples?:|Try it:/);
  },
);
