import { type CandidateList, CandidateView, type ValueOf } from '@cleanslate/contracts';
import { type Html, html, path, query } from './html.ts';
import type { PageView } from './layout.ts';
import { badge, empty, factLink, older, select, short, table } from './parts.ts';
import { age } from './time.ts';

export const CANDIDATE_HEAD = ['State', 'Statement', 'Source', 'Became', 'Said'];

/** Knowledge that was proposed, and what became of it. */
export function blackboardPage(
  { candidates, next }: ValueOf<typeof CandidateList>,
  filter: { readonly state?: string },
): Omit<PageView, 'tenantId'> {
  return {
    title: 'Blackboard',
    place: '/blackboard',
    live: { everyMs: 5_000 },
    controls: html`<h1>Blackboard</h1><p class="lead">What agents propose as knowledge. It becomes a fact only if its task passes, and the maintainer takes it.</p>
<form class="filter" method="get" action="/blackboard">${select('state', 'State', CandidateView.shape.state.options, filter.state)}<button>Filter</button></form>`,
    body: [
      candidates.length === 0
        ? empty('Nothing lies there.')
        : table(
            'Candidates, newest first',
            [...CANDIDATE_HEAD, 'Task'],
            candidates.map((each) => candidateRow(each, true)),
          ),
      older(next === null ? null : `/blackboard${query({ ...filter, cursor: next })}`),
    ],
  };
}

export function candidateRow(each: CandidateView, withTask: unknown): Html {
  const { candidate, knowledgeId, version } = each;
  const became =
    knowledgeId !== null && factLink(knowledgeId, short(`${knowledgeId}${version === null ? '' : `@${version}`}`));
  return html`<tr><td>${badge(each.outcome ?? each.state)}${each.reason !== null && html`<p class="note">${each.reason}</p>`}</td>
<td class="text wide">${candidate.statement}<p class="note">confidence ${candidate.confidence}, importance ${candidate.importance}</p></td>
<td class="note">${candidate.sourceType.replaceAll('_', ' ')}</td><td>${became}</td><td>${age(each.saidAt)}</td>${withTask === true && html`<td><a class="id" href="${path`/tasks/${each.taskId}`}">${short(each.taskId)}</a></td>`}</tr>`;
}
