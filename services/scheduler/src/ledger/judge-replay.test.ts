import { describe, expect, test } from 'vitest';
import { judgeReplay } from './judge-replay.ts';

const wish = { letterId: 'l', force: false, batch: null };
const open = { status: 'open' as const, needs_human: false };

describe('a letter may be replayed', () => {
  test('while it is open', () => expect(judgeReplay(open, wish)).toBeNull());

  test.each(['replaying', 'closed'] as const)('again where it is %s, but only if forced', (status) => {
    expect(judgeReplay({ ...open, status }, wish)).toMatchObject({ code: 'ALREADY_REPLAYED' });
    expect(judgeReplay({ ...open, status }, { ...wish, force: true })).toBeNull();
  });

  test('never once it was discarded, or where nobody knows it', () => {
    expect(judgeReplay({ ...open, status: 'discarded' }, { ...wish, force: true })).toMatchObject({
      code: 'ALREADY_REPLAYED',
    });
    expect(judgeReplay(undefined, wish)).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('by its id although it needs a person, but by no bulk replay, forced or not (B5)', () => {
    const parked = { ...open, needs_human: true };
    expect(judgeReplay(parked, wish)).toBeNull();
    expect(judgeReplay(parked, { ...wish, batch: 'b', force: true })).toMatchObject({ code: 'NEEDS_HUMAN' });
  });
});
