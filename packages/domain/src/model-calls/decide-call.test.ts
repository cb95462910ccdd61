import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CallLimit, decideCall, type LimitUse } from './decide-call.ts';

const NO_LIMIT: CallLimit = {
  tenantId: null,
  model: '',
  maxRequests: null,
  tokensPerMinute: null,
  tokensPerDay: null,
  costPerDay: null,
};
const use = (limit: Partial<CallLimit>, used: Partial<LimitUse> = {}): LimitUse => ({
  limit: { ...NO_LIMIT, ...limit },
  openRequests: 0,
  minuteTokens: 0,
  minuteEasesInMs: 30_000,
  dayTokens: 0,
  dayCost: 0,
  dayEndsInMs: 3_600_000,
  ...used,
});
const NEED = { tokens: 100, cost: 0.5 };

describe('a call begins where every limit has room', () => {
  test('none is set: granted, and its lease binds nobody', () => {
    expect(decideCall([], NEED)).toEqual({ answer: 'granted', bounded: false });
  });

  test.each<[string, LimitUse, unknown]>([
    ['the last slot', use({ maxRequests: 2 }, { openRequests: 1 }), { answer: 'granted', bounded: true }],
    [
      'no slot',
      use({ maxRequests: 2 }, { openRequests: 2 }),
      { answer: 'wait', limit: '2 requests at once of all models', retryInMs: 250 },
    ],
    ['exactly the minute', use({ tokensPerMinute: 100 }), { answer: 'granted', bounded: false }],
    [
      'a full minute',
      use({ model: 'm', tokensPerMinute: 150 }, { minuteTokens: 51 }),
      { answer: 'wait', limit: '150 tokens per minute of model "m"', retryInMs: 30_000 },
    ],
    [
      'a full day',
      use({ tenantId: 'acme', tokensPerDay: 1_000 }, { dayTokens: 950 }),
      { answer: 'wait', limit: '1000 tokens per day of all models for tenant "acme"', retryInMs: 3_600_000 },
    ],
    [
      'a spent purse',
      use({ costPerDay: 10 }, { dayCost: 9.6 }),
      { answer: 'wait', limit: '10 costs per day of all models', retryInMs: 3_600_000 },
    ],
    [
      'more than a whole minute',
      use({ tokensPerMinute: 99 }),
      { answer: 'never', limit: '100 of 99 tokens per minute of all models' },
    ],
  ])('%s', (_, given, expected) => {
    expect(decideCall([given], NEED)).toEqual(expected);
  });

  test('whatever is granted keeps every limit; whatever is not breaks one', () => {
    const limit = fc.option(fc.nat(5), { nil: null });
    const uses = fc.array(
      fc.record({
        limit: fc.record({
          tenantId: fc.constantFrom(null, 'acme'),
          model: fc.constantFrom('', 'm'),
          maxRequests: limit,
          tokensPerMinute: limit,
          tokensPerDay: limit,
          costPerDay: limit,
        }),
        openRequests: fc.nat(5),
        minuteTokens: fc.nat(5),
        minuteEasesInMs: fc.nat(60_000),
        dayTokens: fc.nat(5),
        dayCost: fc.nat(5),
        dayEndsInMs: fc.nat(86_400_000),
      }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(uses, fc.record({ tokens: fc.nat(5), cost: fc.nat(5) }), (given, need) => {
        const fits = given.every(
          ({ limit: l, ...u }) =>
            u.openRequests + 1 <= (l.maxRequests ?? Infinity) &&
            u.minuteTokens + need.tokens <= (l.tokensPerMinute ?? Infinity) &&
            u.dayTokens + need.tokens <= (l.tokensPerDay ?? Infinity) &&
            u.dayCost + need.cost <= (l.costPerDay ?? Infinity),
        );
        expect(decideCall(given, need).answer === 'granted').toBe(fits);
      }),
    );
  });
});
