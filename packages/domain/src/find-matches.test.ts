import { describe, expect, it } from 'vitest';
import { findMatches } from './find-matches.ts';

describe('findMatches', () => {
  it.each([
    ['matches', /\d+/g],
    ['matches of empty text too', /\d*/g],
    ['matches of empty text, by code points', /\d*/gu],
    ['matches of empty text, by code points of sets', /\d*/gv],
    ['matches one after the other', /\d?/gy],
    ['nothing', /z/g],
  ])('finds %s as matchAll does', (_name, pattern) => {
    const text = '12 a😀 3';
    expect(findMatches(text, pattern)).toEqual([...text.matchAll(pattern)]);
  });

  it('begins anew at each call', () => {
    const pattern = /a/g;
    pattern.lastIndex = 3;
    expect(findMatches('aa', pattern)).toHaveLength(2);
  });

  it('refuses a pattern that would find its first match for ever', () => {
    expect(() => findMatches('aa', /a/)).toThrow(TypeError);
  });
});
