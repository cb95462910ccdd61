import { isAppError } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineWorkflow, type WorkflowDefinition } from './define-workflow.ts';

const definition: WorkflowDefinition = {
  name: 'review',
  input: z.strictObject({ document: z.string(), limit: z.int().optional() }),
  documents: ['document'],
  steps: {
    read: {
      role: 'retriever',
      executor: 'review/read',
      input: { document: 'input.document', mode: { value: 'full' } },
    },
    write: {
      role: 'generator',
      executor: 'review/write',
      after: ['read'],
      input: { text: 'steps.read.output.text', feedback: 'feedback' },
      retry: { maxAttempts: 5 },
      timeoutMs: 1_000,
    },
    check: { role: 'validator', executor: 'review/check', after: ['write'], input: { report: 'steps.write.output' } },
  },
  validation: { step: 'check', rework: ['write'], maxRounds: 3 },
  result: 'steps.write.output',
};

describe('a workflow', () => {
  const compiled = defineWorkflow(definition);

  test('compiles to data, with the defaults filled in', () => {
    expect(compiled.plan).toMatchObject({
      workflow: 'review',
      documents: ['document'],
      result: { from: 'steps.write.output' },
    });
    expect(compiled.plan.inputSchema).toMatchObject({
      type: 'object',
      required: ['document'],
      additionalProperties: false,
    });
    const [read, write] = compiled.plan.steps;
    expect(read).toEqual({
      key: 'read',
      role: 'retriever',
      executor: 'review/read',
      after: [],
      input: { document: { from: 'input.document' }, mode: { value: 'full' } },
      timeoutMs: 300_000,
      queueTtlMs: 86_400_000,
      retry: { maxAttempts: 3, baseMs: 1_000, maxMs: 60_000 },
    });
    expect(write).toMatchObject({ timeoutMs: 1_000, retry: { maxAttempts: 5, baseMs: 1_000, maxMs: 60_000 } });
    expect(JSON.parse(JSON.stringify(compiled.plan))).toEqual(compiled.plan);
  });

  test('has the hash of its content: written again, with keys in another order or defaults spelled out, it is the same', () => {
    const { name, ...rest } = definition;
    const { read, ...others } = definition.steps;
    const spelled = { ...rest, name, steps: { read: { ...read, after: [], timeoutMs: 300_000 }, ...others } };
    expect(defineWorkflow(spelled as WorkflowDefinition).planHash).toBe(compiled.planHash);
    expect(compiled.planHash).toMatch(/^[0-9a-f]{32}$/);
  });

  test('has a hash that other processes and later versions agree on', () => {
    // Replicas of two versions must know a stored plan by the same hash. When this changes, so does the hash of every
    // plan: say so in the release notes.
    expect(compiled.planHash).toBe('8849a35165e6579cfa03cb4324ea5015');
  });

  test.each<[string, Partial<WorkflowDefinition>]>([
    ['name', { name: 'other' }],
    ['input', { input: z.strictObject({ document: z.string() }) }],
    ['documents', { documents: [] }],
    ['result', { result: 'steps.read.output' }],
    ['validation', { validation: { step: 'check', rework: ['write'], maxRounds: 4 } }],
  ])('has another hash with another %s', (_name, change) => {
    expect(defineWorkflow({ ...definition, ...change }).planHash).not.toBe(compiled.planHash);
  });

  test('is refused by name when its plan is wrong', () => {
    const wrong = () => defineWorkflow({ ...definition, result: 'steps.nobody.output' });
    expect(wrong).toThrow(/result: reads step "nobody"/);
    try {
      wrong();
    } catch (error) {
      expect(isAppError(error) && error.code).toBe('PLAN_INVALID');
    }
  });
});
