import type { TaskStory, ValueOf } from '@cleanslate/contracts';
import { type Html, html } from './html.ts';
import { badge, table } from './parts.ts';

type Story = ValueOf<typeof TaskStory>;
type Moment = { readonly at: string; readonly row: (since: string) => Html };

/** Everything that happened, including refusals and repairs, in seconds from the start. */
export function timeline(story: Story): Html {
  const moments: Moment[] = [
    ...story.transitions.map((each) => ({ at: each.at, row: (since: string) => transition(each, since) })),
    ...story.refusals.map((each) => ({
      at: each.at,
      row: (since: string) => aside(each.stepId, 'refused', `${each.code}: ${each.detail}`, since),
    })),
    ...story.repairs.map((each) => ({
      at: each.at,
      row: (since: string) => aside(each.stepId, 'repaired', `${each.what}: ${each.detail}`, since),
    })),
  ].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const start = Date.parse(moments[0]?.at ?? '');
  const rows = moments.map(({ at, row }) => row(`${((Date.parse(at) - start) / 1_000).toFixed(2)} s`));
  return table('What happened, oldest first', ['After', 'Who', 'Became', 'Because', 'By'], rows);
}

function transition(each: Story['transitions'][number], since: string): Html {
  const attempt = each.attempt !== null && each.attempt > 1 && html` <span class="note">attempt ${each.attempt}</span>`;
  return html`<tr><td class="number">${since}</td><td>${each.stepId ?? html`<strong>task</strong>`}${attempt}</td><td>${badge(each.to)}</td>
<td>${each.on.replaceAll('_', ' ')}${each.code !== null && html` <code>${each.code}</code>`}</td><td class="note">${each.worker}</td></tr>`;
}

function aside(stepId: string | null, what: string, text: string, since: string): Html {
  return html`<tr class="aside"><td class="number">${since}</td><td>${stepId ?? 'task'}</td><td><span class="badge warn"><span aria-hidden="true">!</span> ${what}</span></td><td colspan="2">${text}</td></tr>`;
}
