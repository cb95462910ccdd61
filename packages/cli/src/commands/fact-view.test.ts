import { expect, test } from 'vitest';
import { toPeriod } from './fact-view.ts';

const period = (validFrom: string | null, validUntil: string | null) => toPeriod({ validFrom, validUntil });

test('a period is told in days, and in times where it begins or ends within a day', () => {
  expect(period(null, null)).toBe('always – open');
  expect(period('2024-07-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z')).toBe('2024-07-01 – 2025-01-01');
  expect(period('2026-11-30T09:15:02.000Z', null)).toBe('2026-11-30T09:15:02Z – open');
  expect(period('2026-11-30T09:15:02.120Z', '2026-11-30T09:15:02.450Z')).toBe(
    '2026-11-30T09:15:02.120Z – 2026-11-30T09:15:02.450Z',
  );
});
