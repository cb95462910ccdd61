import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countVotes, type Vote, weightAfter } from './feedback.ts';

const vote = fc.record<Vote>({
  person: fc.constantFrom('ann', 'bo', 'cy', 'di'),
  verdict: fc.constantFrom('wrong', 'right'),
});
const votes = fc.array(vote, { maxLength: 12 });
const base = fc.double({ min: 0.05, max: 1, noNaN: true });

describe('weight after feedback', () => {
  it('counts a person once, with what they said last', () => {
    fc.assert(
      fc.property(
        base,
        votes,
        fc.constantFrom('ann', 'bo'),
        fc.constantFrom('wrong' as const, 'right' as const),
        (weight, said, person, verdict) => {
          const once = [...said, { person, verdict }];
          expect(weightAfter(weight, [...once, { person, verdict }, { person, verdict }])).toBe(
            weightAfter(weight, once),
          );
          expect(weightAfter(weight, once)).toBe(
            weightAfter(weight, [...said.filter((each) => each.person !== person), { person, verdict }]),
          );
        },
      ),
    );
  });

  it('never rises by "wrong", never falls by "right", and stays in its bounds', () => {
    fc.assert(
      fc.property(base, votes, (weight, said) => {
        const now = weightAfter(weight, said);
        expect(weightAfter(weight, [...said, { person: 'new', verdict: 'wrong' }])).toBeLessThanOrEqual(now);
        expect(weightAfter(weight, [...said, { person: 'new', verdict: 'right' }])).toBeGreaterThanOrEqual(now);
        expect(now).toBeGreaterThanOrEqual(weight / 4 - 1e-6);
        expect(now).toBeLessThanOrEqual(Math.min(1, weight * 1.25) + 1e-6);
      }),
    );
  });

  it('is what it was where opinions cancel out, and nobody said anything', () => {
    expect(weightAfter(0.9, [])).toBe(0.9);
    expect(
      weightAfter(0.9, [
        { person: 'a', verdict: 'wrong' },
        { person: 'b', verdict: 'right' },
      ]),
    ).toBe(0.9);
    expect(
      countVotes([
        { person: 'a', verdict: 'wrong' },
        { person: 'a', verdict: 'right' },
      ]),
    ).toEqual({ wrong: 0, right: 1 });
  });
});
