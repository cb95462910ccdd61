import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parsePolicySet } from './parse-policy-set.ts';

const sample = (name: string) => readFileSync(new URL(`../../../../infra/samples/${name}`, import.meta.url));

const HEAD = 'policySet:\n  name: test\n  source: policy:test\nfacts:\n';
const FACT = `  - id: term
    subject: contract.payment_term
    predicate: max_days
    modality: must
`;

function fault(yaml: string | Uint8Array): { message: string; code: string } {
  try {
    parsePolicySet(yaml, 'p.yaml');
  } catch (error) {
    return error as { message: string; code: string };
  }
  throw new Error('nothing was refused');
}

describe('parsePolicySet', () => {
  it.each(['policies-en.yaml', 'policies-zh.yaml'])('reads the shipped %s', (name) => {
    const set = parsePolicySet(sample(name), name);
    expect(set.sourceType).toBe('human_confirmed');
    expect(set.facts.some((fact) => fact.periods.length === 3)).toBe(true);
  });

  it('keeps digits as written and reads plain dates as midnight UTC', () => {
    const set = parsePolicySet(`${HEAD}${FACT}    value: 000030\n    statement: x\n    validFrom: 2024-01-31\n`);
    expect(set.facts[0]?.periods).toEqual([
      { value: '000030', statement: 'x', validFrom: '2024-01-31T00:00:00.000Z', validUntil: null },
    ]);
  });

  it('takes one document between its marks', () => {
    const yaml = `---\n${HEAD}${FACT}    value: "1"\n    statement: a\n...\n# the end\n`;
    expect(parsePolicySet(yaml).facts).toHaveLength(1);
  });

  const overlap = `${HEAD}${FACT}    periods:
      - { value: "1", statement: a, validFrom: 2024-01-01 }
      - { value: "2", statement: b, validFrom: 2025-01-01 }
`;
  it.each([
    ['overlapping periods', overlap, /p\.yaml:11 \(facts\.0\.periods\.1\).*overlaps.*end one where the other begins/],
    [
      'an unknown key',
      `${HEAD}${FACT}    value: "1"\n    statement: a\n    colour: red\n`,
      /p\.yaml:5 \(facts\.0\).*colour/,
    ],
    ['malformed YAML', `${HEAD}  - id: [a\n  b: }`, /p\.yaml:\d+: .*correct the YAML there/],
    ['a key twice', `${HEAD}${FACT}    modality: may\n    value: "1"\n    statement: a\n`, /p\.yaml:9 .*twice/],
    ['a NUL character', `${HEAD}${FACT}    value: "1\0"\n`, /p\.yaml:9: it holds a NUL character/],
    ['an escaped NUL', `${HEAD}${FACT}    value: "1\\0"\n    statement: a\n`, /NUL/],
    ['__proto__', `${HEAD}${FACT}    __proto__: { a: 1 }\n`, /p\.yaml:9 \(facts\.0\.__proto__\)/],
    [
      'the same id twice',
      `${HEAD}${`${FACT}    value: "1"\n    statement: a\n`.repeat(2)}`,
      /p\.yaml:11 \(facts\.1\).*stands at facts\.0/,
    ],
    [
      'a second document',
      `${HEAD}${FACT}    value: "1"\n    statement: a\n---\nfacts: []\n`,
      /p\.yaml:11: a second document begins: write one policy set a file/,
    ],
    ['an alias', `x: &x [1]\ny: *x\n`, /p\.yaml:2: an alias/],
    [
      'an alias bomb',
      `a: &a [x,x]\n${Array.from({ length: 40 }, (_, i) => `b${i}: &b${i} [*${i === 0 ? 'a' : `b${i - 1}`},*${i === 0 ? 'a' : `b${i - 1}`}]`).join('\n')}`,
      /an alias/,
    ],
    [
      'a range that holds no moment',
      `${HEAD}${FACT}    value: "1"\n    statement: a\n    validFrom: 2025-01-01\n    validUntil: 2024-01-01\n`,
      /before validUntil/,
    ],
    [
      'a date that is none',
      `${HEAD}${FACT}    value: "1"\n    statement: a\n    validFrom: 2025-02-30\n`,
      /p\.yaml:11 \(facts\.0\.validFrom\)/,
    ],
    ['deep nesting', '['.repeat(200_000), /p\.yaml/],
    [
      'a map of 100,000 keys',
      Array.from({ length: 100_000 }, (_, i) => `k${i}: 1`)
        .join('\n')
        .slice(0, 1024 * 1024),
      /p\.yaml:1/,
    ],
    [
      'too many bytes',
      'x'.repeat(1024 * 1024 + 1),
      /at most 1048576 are read: put its facts into several files, each with the same `policySet:`.*slate fact import/,
    ],
    [
      'a blank statement',
      `${HEAD}${FACT}    value: "1"\n    statement: " "\n`,
      /p\.yaml:10 \(facts\.0\.statement\): ".*" is blank/,
    ],
    ['nothing', ' \n', /it is empty/],
    ['a list', '- 1', /p\.yaml:1/],
    ['bytes that are not UTF-8', new Uint8Array([0xff, 0xfe, 0x41]), /not UTF-8/],
  ])('refuses %s, naming place and remedy', (_name, yaml, message) => {
    const { code, message: said } = fault(yaml);
    expect(code).toBe('INVALID_INPUT');
    expect(said).toMatch(message);
  });
});
