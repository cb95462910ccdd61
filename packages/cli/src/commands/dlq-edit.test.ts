import { describe, expect, test } from 'vitest';
import { readEdit } from './dlq-edit.ts';
import { assertChosen, toLetterQuery } from './dlq-filter.ts';

const letterOf = (stepId: string | null, content: unknown) => ({
  stepId,
  body: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)).toString('base64'),
});
const step = letterOf('analyze', { data: { input: { document: { name: 'a.txt' }, rows: [1, 2] } } });
const message = letterOf(null, { type: 'task.submit.v1', data: { workflow: 'nop' } });
const bad = { code: 'INVALID_INPUT' };

describe('an edit', () => {
  test('sets values of a step’s input: JSON where it is some, else text', async () => {
    const edit = await readEdit(step, {
      set: ['document.name=b.txt', 'rows.1=20', 'document.size=7', 'extra={"a":1}'],
    });
    expect(edit).toEqual({
      input: { document: { name: 'b.txt', size: 7 }, rows: [1, 20], extra: { a: 1 } },
    });
  });

  test('sets values of a message’s whole content', async () => {
    const edit = await readEdit(message, { set: ['data.workflow=noop'] });
    if (edit === undefined || !('body' in edit)) throw new Error('no body');
    expect(JSON.parse(Buffer.from(edit.body, 'base64').toString())).toEqual({
      type: 'task.submit.v1',
      data: { workflow: 'noop' },
    });
  });

  test.each(['document.missing.name=x', '=x', 'novalue', 'rows.1.2=x', '__proto__=1', '.a=1'])(
    '%s is refused before anything is sent',
    (set) => expect(readEdit(step, { set: [set] })).rejects.toMatchObject(bad),
  );

  test('of bytes that are no JSON, or given twice, is refused with the way out', async () => {
    await expect(readEdit(letterOf('a', 'not json'), { set: ['a=1'] })).rejects.toMatchObject({
      details: { remedy: expect.stringContaining('--edit FILE') },
    });
    await expect(readEdit(step, { edit: 'x.json', set: ['a=1'] })).rejects.toMatchObject(bad);
    await expect(readEdit(step, { edit: '/no/such/file' })).rejects.toMatchObject(bad);
    expect(await readEdit(step, {})).toBeUndefined();
  });
});

describe('filters', () => {
  const now = Date.parse('2026-03-02T12:00:00.000Z');
  test('take a time or how long ago', () => {
    expect(toLetterQuery({ since: '2h', olderThan: '2026-03-02' }, now)).toEqual({
      since: '2026-03-02T10:00:00.000Z',
      until: '2026-03-02',
    });
    expect(() => toLetterQuery({ since: 'yesterday' }, now)).toThrow(
      expect.objectContaining({
        message: '"yesterday" is no time',
        details: expect.objectContaining({ where: '--since', remedy: expect.stringContaining('how long ago (90s, ') }),
      }),
    );
  });

  test('have a reason that is a code, the platform’s or an executor’s own', () => {
    expect(toLetterQuery({ reason: 'MY_OWN_CODE' })).toEqual({ reason: 'MY_OWN_CODE' });
    expect(() => toLetterQuery({ reason: 'unknown' })).toThrow(
      expect.objectContaining({
        message: '"unknown" is no reason',
        details: { where: '--reason', remedy: expect.stringMatching(/one of INVALID_INPUT, UNPARSEABLE,.* or a code/) },
      }),
    );
  });

  test('or a letter must be given, not both, and everything must be said', () => {
    expect(() => assertChosen(undefined, {}, undefined)).toThrow(/no filter/);
    expect(() => assertChosen('L', { reason: 'X' }, undefined)).toThrow(/one letter and a filter/);
    assertChosen(undefined, {}, true);
    assertChosen('L', {}, undefined);
    assertChosen(undefined, { reason: 'X' }, undefined);
  });
});
