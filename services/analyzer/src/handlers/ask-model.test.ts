import { AppError, type FactView } from '@cleanslate/contracts';
import type { StepContext } from '@cleanslate/runtime';
import { fakeStepContext } from '@cleanslate/runtime/testing';
import { reviewContract } from '@cleanslate/workflows';
import { expect, test } from 'vitest';
import { askModel } from './ask-model.ts';

const text = 'For its liability towards Customer the Vendor answers with EUR 250,000 and no more.\n';
const fact: FactView = {
  tenantId: 'acme',
  knowledgeId: 'cap',
  version: 1,
  statement: 'A contract must cap liability.',
  assertion: {
    subject: 'contract.liability_cap',
    predicate: 'required',
    value: 'true',
    unit: null,
    polarity: 'positive',
    modality: 'must',
  },
  knowledgeType: 'rule',
  layer: 'core',
  sourceType: 'human_confirmed',
  sourceRef: 'policy:test',
  weight: 1,
  confidence: 1,
  importance: 1,
  accessLevel: 'internal',
  sensitivity: 'none',
  contentHash: '0'.repeat(64),
  tags: [],
  validFrom: null,
  validUntil: null,
  revisionFrom: 1,
  revisionUntil: null,
};
const facts = [fact];
const analysis = reviewContract({ text, facts });

function withModel(ask: () => Promise<never>, more: Partial<StepContext> = {}) {
  return askModel(
    fakeStepContext({ model: { ...fakeStepContext().model, name: 'slow', isOffline: false, ask }, ...more }),
    { text, facts, analysis },
  );
}

test('without a model nothing is asked and nothing is said', async () => {
  expect(await askModel(fakeStepContext(), { text, facts, analysis })).toBe(analysis);
});

test('a model that never answers costs a review no more than half of its time', async () => {
  const reviewed = await withModel(() => new Promise(() => undefined), { deadline: () => 100 });
  expect(reviewed).toEqual({
    ...analysis,
    model: { name: 'slow', outcome: 'failed', error: 'MODEL_TIMEOUT', unread: 0, readings: [], dropped: [] },
  });
});

test('a step that is stopped stops: that is no fault of the model', async () => {
  const stopped = new AppError('CANCELLED', 'the task was cancelled');
  const signal = AbortSignal.abort(stopped);
  await expect(withModel(() => Promise.reject(stopped), { signal })).rejects.toBe(stopped);
});

test('a fault of our own is not taken for one of the model', async () => {
  await expect(withModel(() => Promise.reject(new TypeError('bug')))).rejects.toThrow(TypeError);
});
