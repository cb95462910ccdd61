import { describe, expect, test } from 'vitest';
import { findKnowledgeUse } from './knowledge-use.ts';
import { toSettlement } from './settlement.ts';
import { chain, errorOf, given } from './testing.ts';

const facts = (...refs: string[]) => ({
  facts: refs.map((ref) => ({ knowledgeId: ref.split('@')[0], version: Number(ref.split('@')[1]), statement: '…' })),
});

describe('what a task used', () => {
  test('each version is read by the step that first names it, best first; the answer rests on what the result names', () => {
    const done = given(chain('find', 'write'))
      .run('find', facts('rate@2', 'term@1', 'cap@1'))
      .run('write', { findings: [{ policy: 'rate@2' }], also: 'own@4' });
    const { reads, answer } = findKnowledgeUse(done.state);
    expect(reads.map(({ stepId, attempt, facts: refs }) => [stepId, attempt, refs])).toEqual([
      ['find', 1, ['rate@2', 'term@1', 'cap@1']],
      ['write', 1, ['own@4']],
    ]);
    const { result, updatedAt } = done.state.task;
    expect(result).toBeTruthy();
    expect(answer).toEqual({
      at: new Date(updatedAt).toISOString(),
      holdsAt: null,
      facts: ['rate@2', 'own@4'],
    });
    expect(toSettlement(done.state)).toMatchObject({ verdict: 'unvalidated', answer });
  });

  test('a failed task has read, and answers nothing', () => {
    const failed = given(chain('find', 'write'))
      .run('find', facts('rate@2'))
      .start('write')
      .fail('write', errorOf('terminal'));
    expect(toSettlement(failed.state)).toMatchObject({ verdict: 'held', answer: null, reads: [{ stepId: 'find' }] });
  });

  test('a large output names its versions in its reference', () => {
    const stored = { $object: 'a'.repeat(64), bytes: 300_000, facts: ['rate@2'] };
    expect(findKnowledgeUse(given(chain('find')).run('find', stored).state).answer?.facts).toEqual(['rate@2']);
  });

  test('a task pinned to another time answers about that time', () => {
    const { state } = given(chain('find')).run('find', facts('rate@1'));
    const validAt = '2024-08-01T00:00:00.000Z';
    const dated = { ...state, task: { ...state.task, pin: { ...state.task.pin, validAt } } };
    expect(findKnowledgeUse(dated).answer?.holdsAt).toBe(validAt);
  });

  test('nothing used and nothing proposed: the maintainer is told nothing', () => {
    expect(toSettlement(given(chain('a')).run('a', { text: 'mail me@1 or see rate@2.' }).state)).toBeNull();
  });
});
