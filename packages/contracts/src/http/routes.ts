import { DeadLetterDiscard, DeadLetterList, DeadLetterReplay, DeadLetterShow } from '../dead-letter-endpoints.ts';
import type { Endpoint } from '../endpoint.ts';
import {
  FactAsOf,
  FactGet,
  FactHistory,
  FactImportSet,
  TaskApprove,
  TaskCancel,
  TaskEdit,
  TaskFork,
  TaskGet,
  TaskList,
  TaskReject,
  TaskRetry,
} from '../endpoints.ts';
import {
  FactPairs,
  FactRedact,
  FactRedactions,
  FactRetractSource,
  FactReview,
  FactReviews,
  TaskFeedback,
} from '../governance-endpoints.ts';
import { CandidateList, FactImpact, TaskSteps, TaskStory } from '../inspection-endpoints.ts';
import { FactDisputes, FactResolve, FactRetract, FactSearch } from '../knowledge-endpoints.ts';
import { ScheduleDelete, ScheduleList, SchedulePause, SchedulePut, ScheduleResume } from '../schedule-endpoints.ts';
import { SessionList, SessionReset, SessionShow } from '../session-endpoints.ts';
import { FactAdd, FactUnarchive, KnowledgeLaunder, KnowledgeReports } from '../upkeep-endpoints.ts';

/**
 * An endpoint of the bus as an HTTP route. Request fields named in the path come from the path, the others from the
 * query (`get`) or the body; the answer is the endpoint's value. The gateway serves exactly this list, and the OpenAPI
 * document describes it.
 */
export type HttpRoute = {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** `{name}` is a field of the request. */
  readonly path: string;
  /** Unique; names generated clients' functions. */
  readonly id: string;
  readonly tag: HttpTag;
  /** What it does, for people. */
  readonly summary: string;
  readonly endpoint: Endpoint;
  /**
   * For a listing: the request field that `?cursor=` fills. Opaque to clients: what comes back as `next` goes in
   * unchanged.
   */
  readonly cursor?: 'before' | 'after';
};
export type HttpTag = keyof typeof HTTP_TAGS;

export const HTTP_TAGS = {
  tasks: 'Units of work: submit, look at, follow, decide about.',
  'dead letters': 'What was given up on: look at it, try it again, close it.',
  schedules: 'Tasks that start by the clock.',
  sessions: 'Short-lived memory of agents: what was said in one conversation.',
  facts: 'Governed knowledge, read at any valid time and revision, and what is proposed to become some.',
} as const;

/**
 * Every query and control of the catalogue. To add one: a line here, and a handler among the gateway's queries if the
 * gateway serves it.
 */
export const HTTP_ROUTES: readonly HttpRoute[] = [
  ...routes('tasks', [
    ['get', '/v1/tasks', 'listTasks', TaskList, 'Tasks, newest first', 'before'],
    ['get', '/v1/tasks/{taskId}', 'getTask', TaskGet, 'A task with its steps, gate and result'],
    ['get', '/v1/tasks/{taskId}/steps', 'getTaskSteps', TaskSteps, 'Its steps with their outputs and failures'],
    ['get', '/v1/tasks/{taskId}/story', 'getTaskStory', TaskStory, 'Every change of state, refusal and repair'],
    ['post', '/v1/tasks/{taskId}/cancel', 'cancelTask', TaskCancel, 'End it as failed with CANCELLED'],
    ['post', '/v1/tasks/{taskId}/approve', 'approveTask', TaskApprove, 'Approve the result that waits at its gate'],
    ['post', '/v1/tasks/{taskId}/reject', 'rejectTask', TaskReject, 'Reject the result that waits at its gate'],
    ['post', '/v1/tasks/{taskId}/edit', 'editTask', TaskEdit, 'Approve another result in its place'],
    ['post', '/v1/tasks/{taskId}/retry', 'retryTask', TaskRetry, 'Run a failed task again; done steps keep theirs'],
    ['post', '/v1/tasks/{taskId}/feedback', 'giveFeedback', TaskFeedback, 'Say whether its answer was right'],
    ['post', '/v1/tasks/{taskId}/fork', 'forkTask', TaskFork, 'A new task from an old one, at a step or another pin'],
  ]),
  ...routes('dead letters', [
    ['get', '/v1/dead-letters', 'listDeadLetters', DeadLetterList, 'Dead letters, last failed first', 'before'],
    ['get', '/v1/dead-letters/{letterId}', 'getDeadLetter', DeadLetterShow, 'One with its bytes and its story'],
    ['post', '/v1/dead-letters/{letterId}/replay', 'replayDeadLetter', DeadLetterReplay, 'Try it again, maybe edited'],
    ['post', '/v1/dead-letters/{letterId}/discard', 'discardDeadLetter', DeadLetterDiscard, 'Close it for good'],
  ]),
  ...routes('schedules', [
    ['get', '/v1/schedules', 'listSchedules', ScheduleList, 'Schedules by id', 'after'],
    ['put', '/v1/schedules/{scheduleId}', 'putSchedule', SchedulePut, 'Create a schedule, or replace it'],
    ['delete', '/v1/schedules/{scheduleId}', 'deleteSchedule', ScheduleDelete, 'Delete a schedule; its tasks stay'],
    ['post', '/v1/schedules/{scheduleId}/pause', 'pauseSchedule', SchedulePause, 'Start no runs until it is resumed'],
    ['post', '/v1/schedules/{scheduleId}/resume', 'resumeSchedule', ScheduleResume, 'Start runs again'],
  ]),
  ...routes('sessions', [
    ['get', '/v1/sessions', 'listSessions', SessionList, 'Sessions that have not expired, by id', 'after'],
    ['get', '/v1/sessions/{sessionId}', 'getSession', SessionShow, 'All that it holds'],
    ['post', '/v1/sessions/{sessionId}/reset', 'resetSession', SessionReset, 'Forget all of it'],
  ]),
  ...routes('facts', [
    ['get', '/v1/facts', 'listFacts', FactAsOf, 'Every fact that holds at the pin, by id', 'after'],
    ['post', '/v1/facts', 'addFact', FactAdd, 'What one person says: a new fact, or a new version of one'],
    ['get', '/v1/facts/{knowledgeId}', 'getFact', FactGet, 'The version that holds at the pin'],
    ['get', '/v1/facts/{knowledgeId}/history', 'getFactHistory', FactHistory, 'All versions, oldest first'],
    ['post', '/v1/fact-searches', 'searchFacts', FactSearch, 'The best facts for a question in words, at the pin'],
    ['post', '/v1/facts/{knowledgeId}/retract', 'retractFact', FactRetract, 'End the belief in it, or in a part of it'],
    ['get', '/v1/disputes', 'listDisputes', FactDisputes, 'Statements between which nobody has decided yet'],
    ['post', '/v1/disputes/{disputeId}/resolve', 'resolveDispute', FactResolve, 'Decide who is right'],
    ['post', '/v1/fact-imports', 'importFacts', FactImportSet, 'Import statements of people, all or nothing'],
    ['get', '/v1/facts/{knowledgeId}/impact', 'getFactImpact', FactImpact, 'What was derived from it, to the last'],
    ['post', '/v1/facts/{knowledgeId}/unarchive', 'unarchiveFact', FactUnarchive, 'Believe it again'],
    ['post', '/v1/launderings', 'launderKnowledge', KnowledgeLaunder, 'Launder the knowledge now, or preview it'],
    ['get', '/v1/launderings', 'listLaunderings', KnowledgeReports, 'Reports of laundering, newest first'],
    ['get', '/v1/candidates', 'listCandidates', CandidateList, 'The blackboard, newest first', 'before'],
    ['post', '/v1/facts/{knowledgeId}/redact', 'redactFact', FactRedact, 'Erase what it says, for good'],
    ['get', '/v1/redactions', 'listRedactions', FactRedactions, 'What was erased, and how far it is', 'before'],
    ['post', '/v1/source-retractions', 'retractSource', FactRetractSource, 'End the belief in all of one source'],
    ['get', '/v1/reviews', 'listReviews', FactReviews, 'Facts behind answers that people called wrong', 'before'],
    ['post', '/v1/reviews/{reviewId}/close', 'closeReview', FactReview, 'Somebody looked, and the fact stays'],
    ['get', '/v1/pairs', 'listPairs', FactPairs, 'What was proposed and what became of it', 'after'],
  ]),
];

type Line = readonly [
  HttpRoute['method'],
  path: string,
  id: string,
  endpoint: Endpoint,
  summary: string,
  cursor?: 'before' | 'after',
];

function routes(tag: HttpTag, lines: readonly Line[]): HttpRoute[] {
  return lines.map(([method, path, id, endpoint, summary, cursor]) => ({
    method,
    path,
    id,
    tag,
    endpoint,
    summary,
    ...(cursor === undefined ? {} : { cursor }),
  }));
}
