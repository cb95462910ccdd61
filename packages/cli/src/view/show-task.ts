import type { TaskView } from '@cleanslate/contracts';
import type { Terminal } from '../terminal.ts';
import { paint } from './describe-item.ts';
import { formatDuration } from './duration.ts';
import { showGate } from './show-gate.ts';
import { cutTo, toTable } from './table.ts';

/** A task with its steps for people; its result as the report it contains, or as JSON. */
export function showTask(terminal: Terminal, task: TaskView): void {
  const { out, style } = terminal;
  out(`${style('bold', task.taskId)}  ${paint(task.state, terminal)}  ${task.workflow}`);
  if (task.key !== null) out(`  key        ${task.key}`);
  out(`  knowledge  valid at ${task.pin.validAt}, revision ${task.pin.revision}`);
  out(`  created    ${task.createdAt}   deadline ${task.deadline}`);
  if (task.error) out(`  ${style('red', 'error')}      ${task.error.code}: ${task.error.message}`);
  if (task.failing)
    out(
      `  ${style('red', 'failing')}    ${task.failing.code}: ${task.failing.message}; finished steps are being undone`,
    );
  if (task.forkedFrom !== undefined) out(`  fork of    ${task.forkedFrom}`);
  showMarks(terminal, task.marks);
  showUsage(terminal, task.usage);
  out();
  const rows = task.steps.map((step) => [
    step.stepId,
    step.role,
    step.phase,
    `${step.attempt}`,
    `${step.spent}`,
    lasted(step.startedAt, step.endedAt),
    step.error ? cutTo(`${step.error.code}: ${step.error.message}`, 80) : '',
  ]);
  for (const line of toTable(['STEP', 'ROLE', 'PHASE', 'ATTEMPT', 'SPENT', 'TOOK', 'ERROR'], rows)) out(`  ${line}`);
  if (task.gate) {
    out();
    showGate(terminal, task.taskId, task.gate);
  }
  if (task.state === 'failed') terminal.note(`  how it came about: slate task explain ${task.taskId}`);
  if (task.result === null || task.result === undefined) return;
  out();
  out(findMarkdown(task.result) ?? JSON.stringify(task.result, null, 2));
}

/** The grounds of the answer that no longer stand, and how to look at them. `width`: of the column of heads. */
export function showMarks({ out, style }: Terminal, marks: TaskView['marks'], width = 11): void {
  for (const { cause, kind, since } of marks ?? [])
    out(
      `  ${style('yellow', 'in doubt'.padEnd(width))}it rests on ${cause}, ${kind} at revision ${since}: slate fact history ${cause.slice(0, cause.lastIndexOf('@'))}`,
    );
}

/** What its model calls used. */
function showUsage({ out }: Terminal, usage: TaskView['usage']): void {
  for (const { model, requests, promptTokens, completionTokens, cost } of usage ?? []) {
    const spent = cost === null ? '' : `, cost ${cost.toPrecision(3)}`;
    out(`  model      ${model}: ${requests} requests, ${promptTokens} + ${completionTokens} tokens${spent}`);
  }
}

/** A result that contains a text for people under `markdown` or `report.markdown`. */
export function findMarkdown(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  if ('markdown' in result && typeof result.markdown === 'string') return result.markdown;
  return 'report' in result ? findMarkdown(result.report) : undefined;
}

function lasted(from: string | null, until: string | null): string {
  if (from === null) return '';
  return until === null ? 'running' : formatDuration(Date.parse(until) - Date.parse(from));
}
