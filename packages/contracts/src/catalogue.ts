import { ENDPOINTS } from './endpoints.ts';
import type { MessageDefinition } from './message.ts';
import { ClaimAbort, ClaimReply, ClaimRequest, ClaimWithReport, Heartbeat, HeartbeatReply } from './messages/claims.ts';
import { DeadLettered } from './messages/dead-letter.ts';
import { CandidatesSettled, FactChanged, KnowledgePropose, KnowledgeSettle } from './messages/knowledge.ts';
import { ModelCallAsk, ModelCallReply } from './messages/model-calls.ts';
import {
  StepTransitioned,
  SubmitRefused,
  TaskAccepted,
  TaskGateOpened,
  TaskTransitioned,
} from './messages/task-events.ts';
import { TaskSubmit } from './messages/task-submit.ts';
import { StepProgress, StepReport, StepRun } from './messages/work.ts';
import { WorkflowRegister, WorkflowRegisterReply } from './messages/workflows.ts';

/** Subject → what may travel there. Schemas, documents and tests are derived from this one list. */
export type CatalogueEntry = {
  readonly subject: string;
  readonly transport: string;
  readonly messages: readonly MessageDefinition[];
};

export const CATALOGUE: readonly CatalogueEntry[] = [
  { subject: 'cmd.task.{tenant}', transport: 'INTAKE', messages: [TaskSubmit] },
  { subject: 'cmd.work.{role}.{tenant}.{task}', transport: 'COMMANDS', messages: [StepRun] },
  { subject: 'cmd.knowledge.{tenant}', transport: 'COMMANDS', messages: [KnowledgeSettle] },
  { subject: 'rpt.{role}.{tenant}.{task}', transport: 'REPORTS', messages: [StepReport] },
  { subject: 'blackboard.{tenant}.{task}', transport: 'BLACKBOARD', messages: [KnowledgePropose] },
  {
    subject: 'evt.task.{tenant}.{task}',
    transport: 'EVENTS',
    messages: [TaskAccepted, SubmitRefused, TaskTransitioned, StepTransitioned, TaskGateOpened],
  },
  { subject: 'evt.knowledge.{tenant}.{knowledge}', transport: 'EVENTS', messages: [FactChanged, CandidatesSettled] },
  { subject: 'dlq.{stream}.{consumer}', transport: 'DLQ', messages: [DeadLettered] },
  { subject: 'claim.{role}', transport: 'request', messages: [ClaimRequest, ClaimWithReport, ClaimReply] },
  { subject: 'hb.{role}', transport: 'request', messages: [Heartbeat, HeartbeatReply] },
  { subject: 'reg.{role}', transport: 'request', messages: [WorkflowRegister, WorkflowRegisterReply] },
  { subject: 'mdl.{role}', transport: 'request', messages: [ModelCallAsk, ModelCallReply] },
  { subject: 'abort.{role}.{worker}', transport: 'core', messages: [ClaimAbort] },
  { subject: 'prg.{tenant}.{task}', transport: 'core', messages: [StepProgress] },
  ...ENDPOINTS.map((endpoint) => ({
    subject: `${endpoint.plane}.{tenant}.${endpoint.noun}.${endpoint.verb}`,
    transport: 'request',
    get messages() {
      return [endpoint.request, endpoint.reply];
    },
  })),
];

/** Every message once. */
export function listMessages(): readonly MessageDefinition[] {
  return [...new Set(CATALOGUE.flatMap((entry) => entry.messages))];
}
