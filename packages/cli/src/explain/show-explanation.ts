import { toErrorText } from '@cleanslate/contracts';
import type { Terminal } from '../terminal.ts';
import { paint } from '../view/describe-item.ts';
import { formatDuration } from '../view/duration.ts';
import { showMarks } from '../view/show-task.ts';
import { cutTo, toTable } from '../view/table.ts';
import type { CitedFact, Explanation } from './explain-task.ts';

/** For a person, the most important first. */
export function showExplanation(terminal: Terminal, explanation: Explanation): void {
  const { out, style } = terminal;
  const { task, why } = explanation;
  out(`${style('bold', task.taskId)}  ${paint(task.state, terminal)}  ${task.workflow}`);
  out(`  because  ${why.because}`);
  if (why.toDo !== null) out(`  ${style('bold', 'to do')}    ${why.toDo}`);
  out(`  saw      knowledge valid at ${task.pin.validAt}, revision ${task.pin.revision}`);
  showMarks(terminal, task.marks, 9);
  showSteps(terminal, explanation);
  showEvidence(terminal, explanation);
  showDisputes(terminal, explanation);
  showModel(terminal, explanation);
  showLearned(terminal, explanation);
  showOdd(terminal, explanation);
}

function showSteps({ out, style, width }: Terminal, { steps }: Explanation): void {
  out();
  const rows = steps.map((step) => [
    step.stepId,
    step.phase,
    `${step.attempt}`,
    step.startedAt && step.endedAt ? formatDuration(Date.parse(step.endedAt) - Date.parse(step.startedAt)) : '-',
    step.worker ?? '-',
    step.after.join(', ') || '-',
  ]);
  const [head = '', ...lines] = toTable(['STEP', 'PHASE', 'ATTEMPTS', 'TOOK', 'WORKER', 'AFTER'], rows);
  out(style('bold', head));
  for (const [i, line] of lines.entries()) {
    out(line);
    const step = steps[i];
    for (const { at, attempt, error } of step?.failures ?? [])
      out(
        `    ${style('red', '✕')} attempt ${attempt}, ${at}: ${error.code} ${cutTo(toErrorText(error).what, width - 60)}`,
      );
    for (const reason of step?.feedback ?? []) out(`    ↩ sent back: ${cutTo(JSON.stringify(reason), width - 20)}`);
  }
}

function showEvidence({ out, style, width }: Terminal, { evidence }: Explanation): void {
  if (evidence.passages.length + evidence.facts.length === 0) return;
  out();
  out(style('bold', 'EVIDENCE: what the result rests on'));
  for (const { quote, start, end } of evidence.passages)
    out(`  document  ${start}–${end}: “${cutTo(quote, width - 30)}”`);
  for (const fact of evidence.facts) {
    out(
      `  ${style('cyan', 'fact')}      ${fact.ref}: ${fact.found ? cutTo(fact.statement ?? '', width - 40) : 'no such version'}`,
    );
    if (fact.found) for (const line of sourceLines(fact)) out(`            ${line}`);
  }
}

function sourceLines(fact: CitedFact): string[] {
  const valid = `valid ${fact.validFrom?.slice(0, 10) ?? 'always'} – ${fact.validUntil?.slice(0, 10) ?? 'open'}`;
  return [
    `source ${fact.sourceRef ?? '?'} (${fact.sourceType ?? '?'}), known since revision ${fact.revisionFrom ?? '?'}; ${valid}`,
    ...(fact.heldAtPin ? [] : ['it did not hold at the task’s pin']),
    ...(fact.revisionUntil === null
      ? []
      : [
          `no longer believed since revision ${fact.revisionUntil}: \`slate fact history ${fact.ref.slice(0, fact.ref.lastIndexOf('@'))}\``,
        ]),
  ];
}

function showDisputes({ out, style, width }: Terminal, { disputes }: Explanation): void {
  if (disputes.length === 0) return;
  out();
  out(style('bold', 'DISPUTES: where its sources disagree'));
  for (const { question, ruling, reason, sides } of disputes) {
    out(`  ${style('yellow', ruling.padEnd(9))} ${cutTo(question, width - 40)}: ${reason}`);
    for (const { fact, disputeId, statement, sourceRef, score } of sides) {
      const named = fact ?? (disputeId === null ? 'a claim' : `dispute ${disputeId}`);
      const scored = score === null ? '' : `, score ${score.toFixed(3)}`;
      out(`            ${named}: ${cutTo(statement, width - 60)} (source ${sourceRef ?? '?'}${scored})`);
    }
  }
}

function showModel({ out, style, width }: Terminal, { model }: Explanation): void {
  if (model === null) return;
  out();
  out(style('bold', 'MODEL: what it added to what the rules found'));
  out(`  ${model.name}: ${model.outcome}${model.error === null ? '' : ` (${model.error})`}`);
  for (const { quote, explanation } of model.readings) {
    out(`  reading   “${cutTo(quote, width - 30)}”`);
    out(`            ${cutTo(explanation, width - 14)}`);
  }
  for (const { reason, count } of model.dropped) out(`  dropped   ${count} × ${reason}`);
}

function showLearned({ out, style, width }: Terminal, { learned }: Explanation): void {
  if (learned.length === 0) return;
  out();
  out(style('bold', 'LEARNED: what it proposed as knowledge'));
  for (const each of learned) {
    const became = each.knowledgeId === null ? '' : ` → ${each.knowledgeId}@${each.version ?? '?'}`;
    out(
      `  ${(each.outcome ?? each.state).padEnd(9)} ${cutTo(each.candidate.statement, width - 50)}${became}${each.reason === null ? '' : ` (${each.reason})`}`,
    );
  }
}

function showOdd({ out, style }: Terminal, { letters, refusals, repairs }: Explanation): void {
  if (letters.length + refusals.length + repairs.length === 0) return;
  out();
  out(style('bold', 'ODD: dead letters, late reports, repairs'));
  for (const letter of letters) out(`  letter    ${letter.letterId} ${letter.status}: ${letter.reason}`);
  for (const { at, stepId, attempt, code, detail } of refusals)
    out(`  refused   ${at} ${stepId ?? 'task'}${attempt === null ? '' : `, attempt ${attempt}`}: ${code} ${detail}`);
  for (const { at, stepId, what, detail } of repairs) out(`  repaired  ${at} ${stepId ?? 'task'}: ${what} ${detail}`);
}
