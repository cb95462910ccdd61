import { expect, test } from 'vitest';
import { findModel } from './find-model.ts';

test('what a model added, and what of its answer was dropped; anything else is no model', () => {
  const model = {
    name: 'm',
    outcome: 'asked',
    error: null,
    readings: [],
    dropped: [{ reason: 'not_quoted', count: 2 }],
  };
  expect(findModel({ model: { ...model, more: 1 } })).toEqual(model);
  for (const other of [undefined, null, 'model', { model: 'gpt' }, { model: { name: 1 } }, {}])
    expect(findModel(other)).toBeNull();
});
