import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AttemptRef, fromAttemptHeaders, HEADERS, TOKEN_PATTERN, toAttemptHeaders } from './index.ts';

const attempt: AttemptRef = { epoch: 1, tenantId: 'acme', taskId: 'order-1', stepId: 'analyze#2', attempt: 3 };
const ids = { tenantId: 'acme', taskId: 'order-1' };
const read = (headers: Record<string, string>, subjectIds: { tenantId: string; taskId?: string } = ids) =>
  fromAttemptHeaders((name) => headers[name] ?? '', subjectIds);

it('A23: no header ends with the server’s message-id header, on whose suffix servers have deduped', () => {
  for (const name of Object.values(HEADERS)) expect(name.toLowerCase()).not.toMatch(/nats-msg-id$|^nats-/);
});

describe('attempt headers', () => {
  it('round trip', () => {
    const token = fc.stringMatching(TOKEN_PATTERN);
    const stepId = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,47}(#[1-9][0-9]{0,3})?$/);
    const count = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(token, token, stepId, count, count, count, (tenantId, taskId, step, epoch, n, ring) => {
        const ref = { epoch, tenantId, taskId, stepId: step, attempt: n };
        expect(read(toAttemptHeaders(ref, ring), { tenantId, taskId })).toEqual(ref);
      }),
    );
  });

  it.each([
    ['another tenant', { tenantId: 'globex', taskId: 'order-1' }],
    ['another task', { tenantId: 'acme', taskId: 'order-2' }],
    ['no task', { tenantId: 'acme' }],
  ])('are refused under a subject of %s', (_what, subjectIds) => {
    expect(() => read(toAttemptHeaders(attempt, 1), subjectIds)).toThrow(
      expect.objectContaining({ code: 'TENANT_MISMATCH', disposition: 'terminal' }),
    );
  });

  it.each([HEADERS.tenant, HEADERS.task, HEADERS.step, HEADERS.attempt, HEADERS.epoch])(
    'are refused without %s, and the error names them',
    (missing) => {
      const { [missing]: _dropped, ...rest } = toAttemptHeaders(attempt, 1);
      expect(() => read(rest)).toThrow(expect.objectContaining({ code: 'SCHEMA_MISMATCH' }));
      expect(() => read(rest)).toThrow(missing);
    },
  );

  it.each(['0', '-1', '1.5', '1e0', '0x1', ' 1', '1 ', '01', '', 'one', 'NaN', 'Infinity', '9'.repeat(30)])(
    'take no %j for a number of an attempt or epoch',
    (text) => {
      for (const name of [HEADERS.attempt, HEADERS.epoch])
        expect(() => read({ ...toAttemptHeaders(attempt, 1), [name]: text })).toThrow(/name no attempt/);
    },
  );

  it('hold no name that a server could take for its own', () => {
    for (const name of Object.values(HEADERS)) expect(name).toMatch(/^Cs-[A-Za-z-]+$/);
    for (const name of Object.values(HEADERS)) expect(/msg-id|nats/i.test(name)).toBe(false);
  });
});
