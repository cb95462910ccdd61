import { AppError } from './errors.ts';
import { INVALID_TASK_ID, SETTLED_ID, TOKEN_PATTERN } from './ids.ts';

/**
 * Builds every subject of the platform. Each id is checked here once more: a subject is the
 * last place to stop an injection.
 */
export const subjects = {
  submit: (tenantId: string) => `cmd.task.${subjectToken(tenantId, 'tenant')}`,
  work: (role: string, tenantId: string, taskId: string) =>
    `cmd.work.${subjectToken(role, 'role')}.${subjectToken(tenantId, 'tenant')}.${subjectToken(taskId, 'task')}`,
  settle: (tenantId: string) => `cmd.knowledge.${subjectToken(tenantId, 'tenant')}`,
  report: (role: string, tenantId: string, taskId: string) =>
    `rpt.${subjectToken(role, 'role')}.${subjectToken(tenantId, 'tenant')}.${subjectToken(taskId, 'task')}`,
  blackboard: (tenantId: string, taskId: string) =>
    `blackboard.${subjectToken(tenantId, 'tenant')}.${subjectToken(taskId, 'task')}`,
  taskEvent: (tenantId: string, taskId: string) =>
    `evt.task.${subjectToken(tenantId, 'tenant')}.${subjectToken(taskId, 'task')}`,
  invalidSubmit: (tenantId: string) => `evt.task.${subjectToken(tenantId, 'tenant')}.${INVALID_TASK_ID}`,
  knowledgeEvent: (tenantId: string, knowledgeId: string) =>
    `evt.knowledge.${subjectToken(tenantId, 'tenant')}.${subjectToken(knowledgeId, 'knowledge')}`,
  settled: (tenantId: string) => `evt.knowledge.${subjectToken(tenantId, 'tenant')}.${SETTLED_ID}`,
  deadLetter: (stream: string, consumer: string) => `dlq.${name(stream)}.${name(consumer)}`,
  claim: (role: string) => `claim.${subjectToken(role, 'role')}`,
  heartbeat: (role: string) => `hb.${subjectToken(role, 'role')}`,
  register: (role: string) => `reg.${subjectToken(role, 'role')}`,
  modelCall: (role: string) => `mdl.${subjectToken(role, 'role')}`,
  abort: (role: string, workerId: string) => `abort.${subjectToken(role, 'role')}.${subjectToken(workerId, 'worker')}`,
  progress: (tenantId: string, taskId: string) =>
    `prg.${subjectToken(tenantId, 'tenant')}.${subjectToken(taskId, 'task')}`,
} as const;

type SubjectIds = { role?: string; tenantId: string; taskId?: string };

/** What follows a subject's fixed head; `-` is a token whose value does not matter here. */
const TAILS: ReadonlyMap<string, readonly (keyof SubjectIds | '-')[]> = new Map([
  ['cmd.task', ['tenantId']],
  ['cmd.knowledge', ['tenantId']],
  ['cmd.work', ['role', 'tenantId', 'taskId']],
  ['rpt', ['role', 'tenantId', 'taskId']],
  ['blackboard', ['tenantId', 'taskId']],
  ['evt.task', ['tenantId', 'taskId']],
  ['evt.knowledge', ['tenantId', '-']],
  ['qry', ['tenantId', '-', '-']],
  ['ctl', ['tenantId', '-', '-']],
  ['obj', ['tenantId', '-', '-']],
]);

/**
 * The ids that a subject names; undefined if it has another shape, or a token that is not an id. A received subject may
 * contain what no envelope accepts (`cmd.task.ACME`), and a message built from it could not be read by anyone.
 */
export function parseSubject(subject: string): SubjectIds | undefined {
  const tokens = subject.split('.');
  const [first = '', second = ''] = tokens;
  const head = first === 'cmd' || first === 'evt' ? `${first}.${second}` : first;
  const names = TAILS.get(head);
  const from = head === first ? 1 : 2;
  if (names?.length !== tokens.length - from) return undefined;
  const ids: SubjectIds = { tenantId: '' };
  for (let n = 0; n < names.length; n++) {
    const value = tokens[from + n] ?? '';
    const name = names[n] ?? '-';
    if (!TOKEN_PATTERN.test(value)) return undefined;
    if (name !== '-') ids[name] = value;
  }
  return ids;
}

/** The id, if it may be one token of a subject; otherwise throws `INVALID_INPUT`. */
export function subjectToken(value: string, what: string): string {
  if (TOKEN_PATTERN.test(value)) return value;
  const shown = JSON.stringify(value.slice(0, 80));
  throw new AppError('INVALID_INPUT', `${what} id ${shown} must match ${TOKEN_PATTERN.source}`);
}

/** Streams and durables have names of another kind, with upper case. */
function name(value: string): string {
  if (/^[A-Za-z0-9_-]{1,128}$/.test(value)) return value;
  throw new AppError('INVALID_INPUT', `${JSON.stringify(value.slice(0, 80))} is no name of a stream or consumer`);
}
