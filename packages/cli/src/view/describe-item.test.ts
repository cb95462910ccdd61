import type { WatchItem } from '@cleanslate/client';
import type { Envelope, TaskState } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { openTerminal } from '../terminal.ts';
import { describeItems } from './describe-item.ts';

const nowhere = { write: () => undefined };
const terminal = openTerminal({ stdout: nowhere, stderr: nowhere, plain: true });

const progress = (kind: 'started' | 'progress', attempt = 1): WatchItem => ({
  kind: 'progress',
  taskId: 't',
  stepId: 'analyze',
  attempt,
  progress: { kind, role: 'analyzer', at: '2026-01-01T00:00:00.000Z', message: '3 findings' },
});
const moved = (to: TaskState, attempt = 1): WatchItem => ({
  kind: 'event',
  taskId: 't',
  cursor: { epoch: 1, position: 1 },
  envelope: {} as Envelope,
  event: {
    name: 'step',
    stepId: 'analyze',
    attempt,
    data: { role: 'analyzer', from: 'pending', to, on: 'x', spent: 1 },
  },
});
const show = (...items: WatchItem[]) => items.map(describeItems(terminal)).map((line) => line?.replace(/\s+/g, ' '));

test('started is said first or not at all, for each attempt', () => {
  expect(show(progress('started'), progress('progress'), progress('started', 2))).toEqual([
    'analyze started',
    'analyze 3 findings',
    'analyze started',
  ]);
  expect(show(progress('progress'), progress('started'))).toEqual(['analyze 3 findings', undefined]);
  expect(show(moved('executing'), progress('started'), moved('completed'))).toEqual([
    'analyze executing',
    undefined,
    'analyze completed',
  ]);
  expect(show(moved('pending'), progress('started'))).toEqual(['analyze pending', 'analyze started']);
});
