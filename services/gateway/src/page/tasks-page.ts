import { TASK_STATES, type TaskList, type TaskSummary, type ValueOf } from '@cleanslate/contracts';
import { type Html, html, query } from './html.ts';
import type { PageView } from './layout.ts';
import { badge, empty, older, select, table, taskLink } from './parts.ts';
import { age, duration } from './time.ts';

export type TasksFilter = { readonly state?: string; readonly workflow?: string; readonly cursor?: string };

/** All tasks, newest first, by state and workflow. */
export function tasksPage({ tasks, next }: ValueOf<typeof TaskList>, filter: TasksFilter): Omit<PageView, 'tenantId'> {
  const filtered = filter.state !== undefined || filter.workflow !== undefined;
  const nothing = filtered
    ? html`No task is like that. <a href="/">Show all</a>`
    : html`No tasks yet. Send one: <code>slate submit contract-review --input contract.md</code>`;
  return {
    title: 'Tasks',
    place: '/',
    live: { everyMs: 3_000 },
    controls: html`<h1>Tasks</h1>
<form class="filter" method="get" action="/">
${select('state', 'State', TASK_STATES, filter.state)}
<label>Workflow <input name="workflow" value="${filter.workflow}" size="18" autocomplete="off" spellcheck="false"></label>
<button>Filter</button></form>`,
    body: [
      tasks.length === 0
        ? empty(nothing)
        : table('Tasks, newest first', ['State', 'Workflow', 'Task', 'Created', 'Lasts', 'Ended with'], tasks.map(row)),
      older(next === null ? null : `/${query({ ...filter, cursor: next })}`),
    ],
  };
}

function row(task: TaskSummary): Html {
  const over = task.state === 'completed' || task.state === 'failed';
  const lasts = (over ? Date.parse(task.updatedAt) : Date.now()) - Date.parse(task.createdAt);
  return html`<tr><td>${badge(task.state)}</td><td>${task.workflow}${task.round > 1 && html` <span class="note">round ${task.round}</span>`}</td>
<td>${taskLink(task.taskId)}</td><td>${age(task.createdAt)}</td><td class="number">${duration(lasts)}</td>
<td>${task.error && html`<code title="${task.error.message}">${task.error.code}</code>`}</td></tr>`;
}
