import type { StepDetail } from '@cleanslate/contracts';
import { type Html, html } from './html.ts';
import { badge } from './parts.ts';
import { duration } from './time.ts';

/** The steps in columns: each right of those it waits for. */
export function plan(steps: readonly StepDetail[]): Html {
  const levels = Map.groupBy(steps, levelsOf(steps));
  const columns = [...levels.entries()].sort(([a], [b]) => a - b);
  const drawn = columns.map(([, column], i) => {
    const [only, ...others] = columns[i - 1]?.[1] ?? [];
    const before = others.length === 0 ? only?.stepId : undefined;
    return html`<li><ul>${column.map((step) => card(step, before))}</ul></li>`;
  });
  return html`<ol class="plan">${drawn}</ol>`;
}

/** How many steps come before each, on the longest path. A step of a later round comes after the one it replaces. */
export function levelsOf(
  steps: readonly Pick<StepDetail, 'stepId' | 'after' | 'supersedes'>[],
): (step: { stepId: string }) => number {
  const levels = new Map<string, number>();
  // Steps are listed in the order in which they were added, which is not always that of the plan: repeat until nothing
  // moves.
  for (let moved = true, turns = 0; moved && turns <= steps.length; turns++) {
    moved = false;
    for (const { stepId, after, supersedes } of steps) {
      const before = supersedes === null ? after : [...after, supersedes];
      const level = Math.max(0, ...before.map((id) => (levels.get(id) ?? 0) + 1));
      if (level === levels.get(stepId)) continue;
      levels.set(stepId, level);
      moved = true;
    }
  }
  return ({ stepId }) => levels.get(stepId) ?? 0;
}

/** `before`: the one step left of it, which the arrow already shows. */
function card(step: StepDetail, before: string | undefined): Html {
  const ran =
    step.startedAt && duration((step.endedAt ? Date.parse(step.endedAt) : Date.now()) - Date.parse(step.startedAt));
  const notes = [
    step.after.some((id) => id !== before) && `after ${step.after.join(', ')}`,
    step.attempt > 1 && `attempt ${step.attempt}, ${step.spent} spent`,
    step.tokens > 0 && `${step.tokens} tokens`,
    step.copiedFrom !== null && `copied from ${step.copiedFrom}`,
    step.purpose !== 'work' && step.purpose,
  ];
  return html`<li class="step" data-step="${step.stepId}"><h3>${step.stepId}</h3>${badge(step.phase)}
<p class="note">${step.role}${ran && html` · ${ran}`}</p>
${notes.map((note) => note && html`<p class="note">${note}</p>`)}
${step.error && html`<p class="note"><code>${step.error.code}</code> ${step.error.message.slice(0, 160)}</p>`}
<p class="note" data-progress></p></li>`;
}
