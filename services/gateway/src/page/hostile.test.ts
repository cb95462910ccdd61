import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  CandidateList,
  DeadLetterList,
  DeadLetterShow,
  FactAsOf,
  FactHistory,
  ScheduleList,
  TaskGet,
  TaskList,
  TaskSteps,
  TaskStory,
  ValueOf,
} from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { blackboardPage } from './blackboard-page.ts';
import { factPage } from './fact-page.ts';
import { factsPage } from './facts-page.ts';
import { type PageView, toPage } from './layout.ts';
import { letterPage, lettersPage } from './letters-page.ts';
import { loginPage } from './login-page.ts';
import { schedulesPage } from './schedules-page.ts';
import { taskPage } from './task-page.ts';
import { tasksPage } from './tasks-page.ts';

const EVIL = `"'><script>alert(1)</script><img src=x onerror=alert(1)>javascript:alert(1)`;
const recorded = join(import.meta.dirname, '../../../../packages/contracts/fixtures/recorded');

/** A recorded answer in which every text is hostile, but for moments, whose form the ledger itself gives. */
function hostile<T>(type: string): T {
  const { data } = JSON.parse(readFileSync(join(recorded, `${type}.reply.v1.json`), 'utf8')) as {
    data: { value: unknown };
  };
  return poison(data.value) as T;
}

function poison(value: unknown): unknown {
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\dT/.test(value) ? value : EVIL;
  if (Array.isArray(value)) return value.map(poison);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, poison(item)]));
}

const pin = { validAt: '2026-03-02T09:00:00.000Z', revision: 3 };
const range = { from: '2025-01-01', until: '2027-01-01', lastRevision: 9 };
const task = hostile<ValueOf<typeof TaskGet>>('task.get');
const steps = hostile<ValueOf<typeof TaskSteps>>('task.steps').steps;
const story = hostile<ValueOf<typeof TaskStory>>('task.story');
const candidates = hostile<ValueOf<typeof CandidateList>>('fact.candidates');
const letters = hostile<ValueOf<typeof DeadLetterList>>('dlq.list');
const gate = {
  stepId: EVIL,
  sha256: EVIL,
  openedAt: pin.validAt,
  expiresAt: pin.validAt,
  onExpiry: 'reject' as const,
  decision: null,
  by: null,
  decidedAt: null,
  result: { [EVIL]: EVIL },
};
const result = {
  markdown: `# ${EVIL}\n\n- ${EVIL}\n\n> ${EVIL}\n\n| ${EVIL} |\n\n**${EVIL}** \`${EVIL}\``,
  evidence: [
    { type: 'document', quote: EVIL, span: { start: 1, end: 2 } },
    { type: 'fact', policy: 'a@1', statement: EVIL, validFrom: EVIL, validUntil: null },
  ],
};

const views: Record<string, Omit<PageView, 'tenantId'>> = {
  tasks: tasksPage({ ...hostile<ValueOf<typeof TaskList>>('task.list'), next: EVIL }, { state: EVIL, workflow: EVIL }),
  task: taskPage({
    task: { ...task, result, gate, forkedFrom: EVIL },
    steps,
    story,
    candidates: candidates.candidates,
    letters: letters.letters,
  }),
  'task without a report': taskPage({
    task: { ...task, result: { [EVIL]: [EVIL] } },
    steps,
    story,
    candidates: [],
    letters: [],
  }),
  facts: factsPage({ ...hostile<ValueOf<typeof FactAsOf>>('fact.as_of'), next: EVIL }, pin, range, {
    prefix: EVIL,
    validAt: EVIL,
  }),
  fact: factPage(hostile<ValueOf<typeof FactHistory>>('fact.history').versions, pin, range),
  blackboard: blackboardPage({ ...candidates, next: EVIL }, { state: EVIL }),
  letters: lettersPage({ ...letters, next: EVIL }, { status: EVIL, reason: EVIL }),
  letter: letterPage({
    ...hostile<ValueOf<typeof DeadLetterShow>>('dlq.show'),
    status: 'open',
    body: Buffer.from(EVIL).toString('base64'),
  }),
  schedules: schedulesPage({ ...hostile<ValueOf<typeof ScheduleList>>('schedule.list'), next: null }),
  login: loginPage(EVIL, EVIL),
};

test.each(Object.entries(views))('%s: hostile text in every field stays text', (_name, view) => {
  const page = toPage(
    { ...view, tenantId: EVIL, said: EVIL, title: EVIL },
    { style: '/style', live: '/live', login: '/login.js' },
  );
  expect(page).toContain('&lt;script&gt;alert(1)');
  expect(page.match(/<script\b[^>]*>/g)).toEqual(['<script type="module" src="/live">']);
  expect(page).not.toMatch(/<img(?! src="\/assets\/icon\.svg")|onerror=alert\(1\)(?!&gt;)/);
  // Every link and form leads to a place of ours.
  for (const [, address = ''] of page.matchAll(/\b(?:href|action|src)="([^"]*)"/g)) expect(address).toMatch(/^(\/|#)/);
  // No style of its own, no handler: the policy would refuse both. (What stands in quotes is a value,
  // and no value holds a quote.)
  const bare = page.replace(/"[^"]*"/g, '""');
  expect(bare).not.toMatch(/<[^>]*\s(style|on\w+)=/);
});
