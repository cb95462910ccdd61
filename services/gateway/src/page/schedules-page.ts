import type { ScheduleList, ScheduleView, ValueOf } from '@cleanslate/contracts';
import { type Html, html, path, query } from './html.ts';
import type { PageView } from './layout.ts';
import { empty, older, table, taskLink } from './parts.ts';
import { age } from './time.ts';

/** Tasks that start on a timetable. */
export function schedulesPage({ schedules, next }: ValueOf<typeof ScheduleList>): Omit<PageView, 'tenantId'> {
  return {
    title: 'Schedules',
    place: '/schedules',
    live: { everyMs: 10_000 },
    controls: html`<h1>Schedules</h1><p class="lead">Tasks that start by the clock.</p>`,
    body: [
      schedules.length === 0
        ? empty(
            html`None yet: <code>slate schedule add nightly contract-review --cron '30 2 * * *' --input contract.md</code>`,
          )
        : table('Schedules by name', ['Schedule', 'Workflow', 'Rule', 'Next', 'Runs', 'Last', ''], schedules.map(row)),
      older(next === null ? null : `/schedules${query({ cursor: next })}`),
    ],
  };
}

function row(each: ScheduleView): Html {
  const verb = each.enabled ? 'pause' : 'resume';
  return html`<tr><td>${each.scheduleId}</td><td>${each.workflow}</td><td><code>${each.cron}</code><p class="note">${each.timeZone}</p></td>
<td>${each.enabled ? (each.nextDueAt === null ? 'never' : age(each.nextDueAt)) : html`<span class="badge wait"><span aria-hidden="true">‖</span> paused</span>`}</td>
<td class="number">${each.runs}${each.skipped > 0 && html`<p class="note">${each.skipped} skipped</p>`}</td>
<td>${each.lastError ? html`<code title="${each.lastError.message}">${each.lastError.code}</code>` : each.lastTaskId !== null && taskLink(each.lastTaskId)}</td>
<td><form method="post" action="${path`/schedules/${each.scheduleId}/${verb}`}"><button aria-label="${verb} ${each.scheduleId}">${verb}</button></form></td></tr>`;
}
