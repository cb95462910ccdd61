import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEraser, ERASED, toFragments } from './erase-content.ts';

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

  it('finds wording in JSON that was put into a text', () => {
    const said = createEraser({ ...erasure, phrases: ['He said "no - never" at C:\\temp\nthen left.'] });
    const inner = JSON.stringify({ log: 'x He said "no - never" at C:\\temp\nthen left. y' });
    expect(said.text(inner)).toBe(JSON.stringify({ log: `x ${ERASED} y` }));
    expect(said.text(JSON.stringify(inner))).not.toContain('never');
  });

  it('puts a hash of nothing where a hash of the content stood', () => {
    expect(eraser.json({ contentHash: 'a'.repeat(64) })).toEqual({ contentHash: '0'.repeat(64) });
  });

  it('gives back the very same value where nothing is to be erased, and erasing twice is erasing once', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = eraser.json(value);
        expect(eraser.json(once)).toEqual(once);
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
        (words, around, gap) => {
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
