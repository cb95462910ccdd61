import type { CandidateView, DeadLetterSummary, StepDetail, TaskStory, TaskView, ValueOf } from '@cleanslate/contracts';
import { CANDIDATE_HEAD, candidateRow } from './blackboard-page.ts';
import { result } from './evidence.ts';
import { type Html, html, path, query } from './html.ts';
import type { PageView } from './layout.ts';
import { badge, errorBox, facts, fold, json, table, taskLink } from './parts.ts';
import { plan } from './plan.ts';
import { age, day, moment } from './time.ts';
import { timeline } from './timeline.ts';

export type TaskData = {
  readonly task: TaskView;
  readonly steps: readonly StepDetail[];
  readonly story: ValueOf<typeof TaskStory>;
  readonly candidates: readonly CandidateView[];
  readonly letters: readonly DeadLetterSummary[];
};

/** One task: its state, what waits for a person, its plan, result, evidence and history. */
export function taskPage({ task, steps, story, candidates, letters }: TaskData): Omit<PageView, 'tenantId'> {
  const over = task.state === 'completed' || task.state === 'failed';
  return {
    title: `${task.workflow} ${task.taskId}`,
    place: '/',
    ...(over ? {} : { live: { events: path`/v1/tasks/${task.taskId}/events` } }),
    body: html`<p class="crumbs"><a href="/">Tasks</a> ›</p>
<div class="head"><h1>${task.workflow}</h1>${badge(task.state)}${actions(task)}</div>
${about(task)}
${failure(task, letters)}
${doubts(task.marks)}
${gate(task)}
<section aria-labelledby="plan"><h2 id="plan">Plan</h2>${plan(steps)}</section>
${result(task)}
<section aria-labelledby="story"><h2 id="story">Timeline</h2>${timeline(story)}</section>
${candidates.length > 0 && html`<section aria-labelledby="learned"><h2 id="learned">What it put on the blackboard</h2>${table('Candidates of this task', CANDIDATE_HEAD, candidates.map(candidateRow))}</section>`}
<section aria-labelledby="parts"><h2 id="parts">In detail</h2>
${fold('Input', json(task.input))}
${steps.map((step) => fold(html`Step ${step.stepId}: output${step.failures.length > 0 && html`, ${step.failures.length} failures`}`, stepDetail(step)))}
</section>`,
  };
}

function about(task: TaskView): Html {
  const { pin } = task;
  return facts([
    ['Task', html`<span class="id">${task.taskId}</span>`],
    ['Created', age(task.createdAt)],
    ['Deadline', moment(task.deadline)],
    ['Knowledge', html`<a href="/facts${query(pin)}">valid at ${day(pin.validAt, '')}, revision ${pin.revision}</a>`],
    task.key !== null && ['Key', task.key],
    task.round > 1 && ['Round', task.round],
    task.forkedFrom !== undefined && ['Fork of', taskLink(task.forkedFrom)],
  ]);
}

function actions({ taskId, state }: TaskView): Html | false {
  if (state === 'completed') return false;
  const [verb, text] = state === 'failed' ? (['retry', 'Run it again'] as const) : (['cancel', 'Cancel it'] as const);
  return html`<form method="post" action="${path`/tasks/${taskId}/${verb}`}"><button>${text}</button></form>`;
}

function failure(task: TaskView, letters: readonly DeadLetterSummary[]): Html | undefined {
  if (task.error === null) return undefined;
  const more =
    letters.length > 0 &&
    html`<p>${letters.map(
      (letter) =>
        html`<a href="${path`/dead-letters/${letter.letterId}`}">Dead letter of ${letter.stepId ?? 'the message'}${letter.attempt !== null && `, attempt ${letter.attempt}`}</a> `,
    )}</p>`;
  return errorBox('Ended with', task.error, more);
}

function doubts(marks: TaskView['marks'] = []): Html | false {
  if (marks.length === 0) return false;
  return html`<section class="box warn" aria-labelledby="doubts"><h2 id="doubts"><span aria-hidden="true">!</span> What this result rests on no longer stands</h2>
<ul>${marks.map(({ cause, kind, since }) => {
    const [knowledgeId = '', version] = cause.split('@');
    return html`<li><a href="${path`/facts/${knowledgeId}`}">${knowledgeId}, version ${version}</a>: ${kind} at revision ${since}</li>`;
  })}</ul></section>`;
}

function gate({ taskId, gate: open }: TaskView): Html | undefined {
  if (open === undefined) return undefined;
  if (open.decision !== null)
    return html`<p class="box">The result was <strong>${open.decision}</strong> by ${open.by === 'expiry' ? 'expiry' : 'a person'}${open.decidedAt !== null && html`, ${age(open.decidedAt)}`}.</p>`;
  const hidden = html`<input type="hidden" name="sha256" value="${open.sha256}">`;
  return html`<section class="box warn" aria-labelledby="gate"><h2 id="gate"><span aria-hidden="true">!</span> The result of ${open.stepId} waits for you</h2>
<p>At ${moment(open.expiresAt)} it is ${open.onExpiry === 'approve' ? 'approved' : 'rejected'} without you. You decide about exactly this result:</p>
${json(open.result)}
<form class="row" method="post" action="${path`/tasks/${taskId}/approve`}">${hidden}<button class="main">Approve</button></form>
<form class="row" method="post" action="${path`/tasks/${taskId}/reject`}">${hidden}<label>Reason <input name="reason" maxlength="2000" size="40"></label><button>Reject</button></form></section>`;
}

function stepDetail(step: StepDetail): Html {
  const output =
    step.output !== null
      ? json(step.output)
      : html`<p class="note">${step.outputBytes === null ? 'No output.' : `${step.outputBytes} bytes, too large to show here.`}</p>`;
  return html`${facts([
    ['Executor', html`<code>${step.executor}</code>`],
    ['Worker', step.worker ?? '–'],
    ['Attempt', `${step.attempt} (${step.spent} spent)`],
  ])}${step.failures.map(
    ({ at, attempt, error }) =>
      html`<p class="text">Attempt ${attempt}, ${moment(at)}: <code>${error.code}</code> ${error.message}</p>`,
  )}${step.feedback !== null && fold('What it was sent back with', json(step.feedback))}${output}`;
}
