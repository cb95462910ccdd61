import { readFileSync } from 'node:fs';
import { TASK_STATES } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import { isTransitionAllowed, TRANSITIONS } from './transitions.ts';

const KINDS = ['task', 'step'] as const;
const MIGRATION = new URL('../../../store/migrations/0002_ledger.sql', import.meta.url);

/** The rows of the one INSERT INTO ledger.allowed_transitions, as `kind: from → to`. */
function readDatabaseTable(): readonly string[] {
  const sql = readFileSync(MIGRATION, 'utf8');
  const inserts = [...sql.matchAll(/INSERT INTO ledger\.allowed_transitions VALUES([^;]*);/g)];
  expect(inserts).toHaveLength(1);
  const values = inserts[0]?.[1] ?? '';
  const rows = [...values.matchAll(/\(\s*'([a-z_]+)'\s*,\s*'([a-z_]+)'\s*,\s*'([a-z_]+)'\s*\)/g)];
  expect(rows).toHaveLength(values.split('(').length - 1);
  return rows.map(([, kind, from, to]) => `${kind}: ${from} → ${to}`);
}

function listCodeTable(): readonly string[] {
  return KINDS.flatMap((kind) =>
    TASK_STATES.flatMap((from) => TRANSITIONS[kind][from].map((to) => `${kind}: ${from} → ${to}`)),
  );
}

describe('the transition table', () => {
  test('is the same in the database and in code', () => {
    const rows = readDatabaseTable();
    expect(new Set(rows).size).toBe(rows.length);
    expect([...rows].sort()).toEqual([...listCodeTable()].sort());
  });

  test('is the design’s', () => {
    expect(listCodeTable()).toEqual([
      'task: pending → executing',
      'task: pending → failed',
      'task: executing → awaiting_validation',
      'task: executing → completed',
      'task: executing → failed',
      'task: awaiting_validation → completed',
      'task: awaiting_validation → executing',
      'task: awaiting_validation → failed',
      'task: failed → pending',
      'step: pending → executing',
      'step: pending → failed',
      'step: executing → awaiting_validation',
      'step: executing → completed',
      'step: executing → pending',
      'step: executing → failed',
      'step: awaiting_validation → completed',
      'step: awaiting_validation → failed',
      'step: failed → pending',
    ]);
  });

  test('knows the same states as the database', () => {
    const states = /CREATE DOMAIN ledger\.state AS text CHECK \(VALUE IN \(([^)]*)\)\)/.exec(
      readFileSync(MIGRATION, 'utf8'),
    );
    expect(states?.[1]?.split(', ').map((state) => state.slice(1, -1))).toEqual(TASK_STATES);
  });

  test.each(KINDS)('has no way out of completed, and none to itself (%s)', (kind) => {
    for (const state of TASK_STATES) {
      expect(isTransitionAllowed(kind, 'completed', state)).toBe(false);
      expect(isTransitionAllowed(kind, state, state)).toBe(false);
    }
  });
});
