import { parseJsonText } from '@cleanslate/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildInput, resolveMapping } from './mapping.ts';
import { given, judged, planOf, planStep, verdictOf } from './testing.ts';

const story = given(planOf([planStep('a')]), { input: { document: { text: 'hi', pages: [{ n: 1 }] }, nothing: null } });
const resolve = (from: string) => resolveMapping(story.state, { from }, story.step('a'));

describe('a mapping', () => {
  test.each([
    ['input', { document: { text: 'hi', pages: [{ n: 1 }] }, nothing: null }],
    ['input.document.text', 'hi'],
    ['input.document.pages.0.n', 1],
    ['pin.revision', 7],
    ['pin', { validAt: '2026-01-01T00:00:00.000Z', revision: 7 }],
    ['input.nothing', null],
    ['input.absent.deeper', null],
    ['input.document.text.0', null],
    ['feedback', null],
    ['steps.a.output', null],
    ['steps.nobody.output.x', null],
    ['secrets', null],
    ['', null],
  ])('reads %s', (from, expected) => {
    expect(resolve(from)).toEqual(expected);
  });

  test('gives a literal as it stands', () => {
    const value = { from: 'input', deep: [1] };
    expect(resolveMapping(story.state, { value }, null)).toBe(value);
  });

  test('reads the newest output of a step, and the reasons as feedback', () => {
    const second = given(judged())
      .run('work', { n: 1 })
      .run('check', verdictOf('rework', 'mend it'))
      .run('work#2', { n: 2 });
    expect(resolveMapping(second.state, { from: 'steps.work.output.n' }, null)).toBe(2);
    expect(resolveMapping(second.state, { from: 'feedback' }, second.step('work#2'))).toMatchObject([
      { message: 'mend it' },
    ]);
  });

  test('never reaches a prototype, neither by a path nor by a field', () => {
    const parts = fc.constantFrom(
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'document',
      'pages',
      '0',
      'length',
    );
    const root = fc.constantFrom('input', 'pin', 'steps.a.output', 'feedback', 'steps.__proto__', 'steps.constructor');
    const reachable = new Set(JSON.stringify(story.state.task.input).match(/"[a-z]+"/g));
    fc.assert(
      fc.property(root, fc.array(parts, { maxLength: 5 }), (start, path) => {
        const value = resolve([start, ...path].join('.'));
        expect(typeof value).not.toBe('function');
        expect(value).not.toBe(Object.prototype);
        expect(value).not.toBe(Array.prototype);
        if (typeof value === 'string' && start === 'input') expect(reachable).toContain(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
    const planned = planStep('a', [], {
      input: { ['__proto__']: { value: { polluted: true } }, ok: { from: 'input.nothing' } },
    });
    const input = buildInput(story.state, planned, story.step('a'));
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
    expect(input['ok']).toBeNull();
    expect('polluted' in input).toBe(false);
  });

  test('passes nothing on that the plan does not name', () => {
    const planned = planStep('a', [], { input: { text: { from: 'input.document.text' } } });
    expect(buildInput(story.state, planned, story.step('a'))).toEqual({ text: 'hi' });
  });

  test('is not confused by input that names itself like a path', () => {
    const odd = given(planOf([planStep('a')]), { input: { 'a.b': 1, a: { b: 2 } } });
    expect(resolveMapping(odd.state, { from: 'input.a.b' }, null)).toBe(2);
    expect(() => parseJsonText('{"__proto__": 1}')).toThrow(/__proto__/);
  });
});
