import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AppError,
  Disposition,
  ERROR_CODES,
  ErrorBody,
  isAppError,
  MAX_ERROR_MESSAGE,
  parseJsonText,
  toAppError,
} from './index.ts';

const LONE = String.fromCharCode(0xd83d);

describe('the codes', () => {
  it.each(Object.entries(ERROR_CODES))('%s is SCREAMING_SNAKE and %s', (code, disposition) => {
    expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
    expect(Disposition.options).toContain(disposition);
    expect(ErrorBody.safeParse(new AppError(code, 'm').toBody()).success).toBe(true);
    expect(new AppError(code, 'm').disposition).toBe(disposition);
  });

  it('of a user’s executor are retried unless they say otherwise', () => {
    expect(new AppError('MODEL_DOWN', 'm').disposition).toBe('retryable');
    expect(new AppError('MODEL_DOWN', 'm', { disposition: 'pause' }).disposition).toBe('pause');
    for (const code of ['toString', 'constructor', '__proto__'])
      expect(new AppError(code, 'm').disposition).toBe('retryable');
  });
});

describe('AppError ↔ ErrorBody', () => {
  it('round trip', () => {
    const error = new AppError('RATE_LIMITED', 'slow down', { retryAfterMs: 500, details: { limit: 3, 租户: ['😀'] } });
    const body = error.toBody();
    const back = AppError.fromBody(ErrorBody.parse(parseJsonText(JSON.stringify(body))));
    expect(back.toBody()).toEqual(body);
    expect([back.code, back.disposition, back.message, back.retryAfterMs, back.details]).toEqual([
      'RATE_LIMITED',
      'retryable',
      'slow down',
      500,
      { limit: 3, 租户: ['😀'] },
    ]);
    expect(new AppError('NOT_FOUND', 'm').toBody()).toEqual({
      code: 'NOT_FOUND',
      disposition: 'terminal',
      message: 'm',
    });
  });

  it('a long message is cut, and says how long it was', () => {
    const { message } = new AppError('INTERNAL', 'x'.repeat(1_000_000)).toBody();
    expect(message).toHaveLength(MAX_ERROR_MESSAGE + '… (1000000 characters)'.length);
    expect(message.endsWith('x… (1000000 characters)')).toBe(true);
    expect(new AppError('INTERNAL', 'x'.repeat(MAX_ERROR_MESSAGE)).toBody().message).toHaveLength(MAX_ERROR_MESSAGE);
  });

  // A refusal that no reader accepts would itself become a dead letter.
  it('no cut leaves half a character, and no quote a NUL', () => {
    for (const text of [`${'x'.repeat(MAX_ERROR_MESSAGE - 1)}😀!`, `a\0b`, `${LONE} odd`, `${'😀'.repeat(3_000)}`]) {
      const body = new AppError('INTERNAL', text).toBody();
      expect(parseJsonText(JSON.stringify(body))).toEqual(body);
    }
  });

  it('anything that was thrown makes a body that every reader takes', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\0', LONE, '__proto__', 'constructor', 'OK_CODE'),
    );
    const details = fc.dictionary(text, fc.oneof(fc.anything(), fc.jsonValue(), text), { maxKeys: 4 });
    const ms = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5));
    fc.assert(
      fc.property(text, text, details, ms, (code, message, given, retryAfterMs) => {
        const body = new AppError(code, message, { details: given, retryAfterMs }).toBody();
        const read = ErrorBody.parse(parseJsonText(JSON.stringify(body)));
        expect(read).toEqual(JSON.parse(JSON.stringify(body)));
      }),
    );
  });

  it('details that fit no message are dropped, and a note says so', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 20_000; i++) deep = { deep };
    const detailsOf = (details: Record<string, unknown>) => new AppError('INTERNAL', 'm', { details }).toBody().details;
    expect(detailsOf(circle)).toEqual({ note: 'details that are not JSON were dropped' });
    expect(detailsOf({ n: 1n })).toEqual({ note: 'details that are not JSON were dropped' });
    expect(detailsOf(deep)).toHaveProperty('note');
    expect(detailsOf({ text: 'x'.repeat(1_000_000) })).toHaveProperty('note');
    expect(detailsOf({ ['__proto__']: 1, at: new Date(0) })).toEqual({
      '__proto__?': 1,
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('a code that is none stays readable in the message', () => {
    expect(new AppError('no-such', 'm').toBody()).toEqual({
      code: 'INTERNAL',
      disposition: 'retryable',
      message: 'm (code "no-such")',
    });
  });
});

describe('any thrown value', () => {
  it('becomes an AppError, and one stays what it is', () => {
    const error = new AppError('NOT_FOUND', 'm');
    expect(toAppError(error)).toBe(error);
    expect(toAppError(new TypeError('boom'))).toMatchObject({
      code: 'INTERNAL',
      message: 'boom',
      cause: expect.any(TypeError),
    });
    expect(toAppError('text', 'CONFIGURATION')).toMatchObject({ code: 'CONFIGURATION', message: 'text' });
    for (const thrown of [undefined, null, 7, {}, Symbol('s'), Object.create(null)])
      expect(isAppError(toAppError(thrown))).toBe(true);
  });

  it('may be a proxy that was revoked, of which nothing can be asked', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(isAppError(proxy)).toBe(false);
    expect(toAppError(proxy).message).toBe('something was thrown that has no text');
  });

  it('is one by its shape: another copy of this package has another class', () => {
    const other = Object.assign(new Error('m'), { name: 'AppError', code: 'NOT_FOUND', disposition: 'terminal' });
    expect(isAppError(other)).toBe(true);
    for (const not of [new Error('m'), { name: 'AppError', disposition: 'terminal' }, null])
      expect(isAppError(not)).toBe(false);
  });
});
