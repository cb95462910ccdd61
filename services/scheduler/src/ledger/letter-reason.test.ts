import { ErrorBody } from '@cleanslate/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toLetterReason } from './letter-reason.ts';

const KEY = 'sk-abcdefghijklmnopqrstuvwxyz';

test('B7: at most 8 KB, without keys, and every reader takes it', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 4_000, unit: 'grapheme' }).map((text) => text.slice(0, 4_000)),
      fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 3 })),
      fc.integer({ min: 0, max: 20_000 }),
      (message, details, padding) => {
        const reason = toLetterReason({
          code: 'MODEL_REFUSED',
          disposition: 'terminal',
          message: `${KEY} ${message}`,
          details: { ...details, echo: `${KEY}${' x'.repeat(padding)}` },
        });
        const text = JSON.stringify(reason);
        expect(Buffer.byteLength(reason.message) + Buffer.byteLength(JSON.stringify(reason.details))).toBeLessThan(
          8_192,
        );
        expect(text).not.toContain(KEY);
        expect(ErrorBody.safeParse(reason).success).toBe(true);
      },
    ),
    { numRuns: 50 },
  );
});

test('the last attempt of an exhausted step is kept by its code, however long it was', () => {
  const last = { code: 'EXECUTOR_FAILED', disposition: 'retryable' as const, message: `${KEY} ${'y'.repeat(4_000)}` };
  const reason = toLetterReason({
    code: 'ATTEMPTS_EXHAUSTED',
    disposition: 'terminal',
    message: 'm',
    details: { last },
  });
  expect(reason.details).toMatchObject({ last: { code: 'EXECUTOR_FAILED' } });
  expect(JSON.stringify(reason)).not.toContain(KEY);
});
