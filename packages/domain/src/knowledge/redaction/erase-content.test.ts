import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEraser, ERASED } from './erase-content.ts';
import { toFragments } from './phrase-pattern.ts';

const erasure = {
  knowledgeId: 'salary-of-ann',
  versions: [1, 2],
  phrases: ['Ann earns 30,000 (gross) a year.', '安的年薪是三万。'],
  hashes: ['a'.repeat(64)],
};
const eraser = createEraser(erasure);

describe('eraser', () => {
  it('finds wording however its blanks and case differ, at any depth, in keys, and inside longer texts', () => {
    const value = {
      note: 'It says: ANN  earns\n30,000 (gross) a year. Really.',
      deep: [{ 'ann earns 30,000 (gross) a year.': 1 }, ['…安的年薪是三万。…']],
      kept: 'Ann earns something.',
    };
    expect(eraser.json(value)).toEqual({
      note: `It says: ${ERASED} Really.`,
      deep: [{ [ERASED]: 1 }, [`…${ERASED}…`]],
      kept: 'Ann earns something.',
    });
  });

  it('empties what an object says that names a redacted version, and leaves its other versions alone', () => {
    const view = {
      knowledgeId: 'salary-of-ann',
      version: 2,
      statement: 'as a rephrasing',
      assertion: { value: '3' },
      weight: 1,
    };
    expect(eraser.json(view)).toEqual({ ...view, statement: ERASED, assertion: null });
    const other = { ...view, version: 3 };
    expect(eraser.json(other)).toBe(other);
    expect(eraser.json({ fact: 'salary-of-ann@1', quote: 'thirty' })).toEqual({
      fact: 'salary-of-ann@1',
      quote: ERASED,
    });
  });

  it('leaves the names of fields alone, and what names, chooses or dates something, whatever the phrase', () => {
    const phrases = ['rule', 'Statement', 'conclusion', 'net', 'analyzer', '2026', 'ab-1', 'demo', 'must'];
    const found = createEraser({ ...erasure, phrases });
    const said = {
      statement: 'It is kept.',
      knowledgeType: 'rule',
      layer: 'core',
      modality: 'must',
      knowledgeId: 'net',
      type: 'net',
      id: 'demo',
      source: '/services/demo',
      time: '2026-01-05T10:00:00.000Z',
      validFrom: null,
      derivedFrom: ['net@1', 'ab-1@2'],
      tags: ['kept'],
      nested: [{ knowledgeType: 'conclusion', role: 'analyzer' }],
    };
    expect(found.json(said)).toBe(said);
    expect(found.json({ id: 'a net sum', type: 'the analyzer', rule: 'rule' })).toEqual({
      id: `a ${ERASED} sum`,
      type: `the ${ERASED}`,
      rule: ERASED,
    });
  });

  it('finds a short phrase as whole words only', () => {
    const found = createEraser({ ...erasure, phrases: ['5', 'net', '€ 7'] });
    const kept = 'On 2026-01-05 the network said 15, 1.5, 5,000, 5.5, 5th and € 70.';
    expect(found.text(kept)).toBe(kept);
    expect(found.text('It is 5, (NET) or salary:5; or € 7.')).toBe(
      `It is ${ERASED}, (${ERASED}) or salary:${ERASED}; or ${ERASED}.`,
    );
    expect(found.text(String.raw`{"said":"\nnet\n5"}`)).toBe(String.raw`{"said":"\n${ERASED}\n${ERASED}"}`);
    expect(found.json({ value: '5', note: { value: 'net' } })).toEqual({ value: ERASED, note: { value: ERASED } });
  });

  it('finds a Chinese name within sentences, a number with its unit not within another, a single character as a whole statement', () => {
    const found = createEraser({ ...erasure, phrases: ['收', '张三', '5天', '第5'] });
    const kept = '甲方收取货款。收货后15天内，1.5天，第55条，收 三万元，付';
    expect(found.text(kept)).toBe(kept);
    expect(found.json(['收', '收。', '他说“收”吗', '第一行\n收\n', '据悉张三已离职', '付款5天内', '第5条'])).toEqual([
      ERASED,
      `${ERASED}。`,
      `他说“${ERASED}”吗`,
      `第一行\n${ERASED}\n`,
      `据悉${ERASED}已离职`,
      `付款${ERASED}内`,
      `${ERASED}条`,
    ]);
    expect(found.text(JSON.stringify({ x: '收', y: '收取', z: '张三' }))).toBe(
      JSON.stringify({ x: ERASED, y: '收取', z: ERASED }),
    );
  });

  it("erases long phrases that are no identifiers from users' fields and keys, whatever these are called", () => {
    const phrases = ['alice@example.com', 'DE89370400440532013000', 'Mueller-Luedenscheidt', '+49 170 1234567'];
    const found = createEraser({ ...erasure, phrases });
    expect(
      found.json({
        role: 'alice@example.com',
        decision: 'DE89370400440532013000',
        clause: 'payment_term',
        DE89370400440532013000: '+49 170 1234567',
        'Mueller-Luedenscheidt': 1,
      }),
    ).toEqual({ role: ERASED, decision: ERASED, clause: 'payment_term', [ERASED]: 1 });
    const ours = {
      taskId: '82fa1871-c810-49ef-912c-226c956b5edf',
      executor: 'bench/noop',
      role: 'analyzer',
      after: ['a#2'],
    };
    expect(createEraser({ ...erasure, phrases: ['analyzer', 'bench/noop', 'c810-49ef'] }).json(ours)).toBe(ours);
  });

  it('finds wording in JSON that was put into a text', () => {
    const said = createEraser({ ...erasure, phrases: ['He said "no - never" at C:\\temp\nthen left.'] });
    const inner = JSON.stringify({ log: 'x He said "no - never" at C:\\temp\nthen left. y' });
    expect(said.text(inner)).toBe(JSON.stringify({ log: `x ${ERASED} y` }));
    expect(said.text(JSON.stringify(inner))).not.toContain('never');
  });

  it('puts a hash of nothing where a hash of the content stood', () => {
    expect(eraser.json({ contentHash: 'a'.repeat(64) })).toEqual({ contentHash: '0'.repeat(64) });
  });

  const odd = createEraser({ ...erasure, phrases: ['redacted', 'red'] });
  it('gives back the very same value where nothing is to be erased, and erasing twice is erasing once', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = eraser.json(value);
        expect(eraser.json(once)).toEqual(once);
        expect(odd.json(odd.json([value, 'is redacted']))).toEqual(odd.json([value, 'is redacted']));
        if (JSON.stringify(once) === JSON.stringify(value)) expect(once).toBe(value);
      }),
    );
  });

  it('leaves no trace of a phrase in any JSON that holds it, and every such JSON holds all its fragments', () => {
    const word = fc.stringMatching(/^[a-z"\\{}.,'一-龥]{2,12}$/);
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 5 }),
        fc.jsonValue(),
        fc.constantFrom(' ', '\n', '\t  '),
        (some, around, gap) => {
          const words = [...some, 'zebrafish'];
          const phrase = words.join(' ');
          const found = createEraser({ ...erasure, phrases: [phrase] });
          const value = { around, said: [`x ${words.join(gap)} y`] };
          const text = JSON.stringify(value).toLowerCase();
          for (const fragment of toFragments(phrase)) expect(text).toContain(fragment.toLowerCase());
          expect(JSON.stringify(found.json(value))).not.toContain(JSON.stringify(words.join(gap)).slice(1, -1));
        },
      ),
    );
  });
});
