import {
  CandidatesSettled,
  type DataOf,
  FactChanged,
  type MessageDefinition,
  subjects,
  toEnvelope,
} from '@cleanslate/contracts';
import type { KnowledgeMessage } from '@cleanslate/store';

export const SOURCE = '/services/knowledge-maintainer';

export type EventCause = {
  readonly tenantId: string;
  readonly at: Date;
  readonly causationId: string;
  /** Trace context of its cause. */
  readonly traceparent?: string | undefined;
};

/**
 * Ids and hashes, never statements. The message id names this change of this fact, so that a
 * second publish is one event.
 */
export function toFactChanged(cause: EventCause, data: DataOf<typeof FactChanged>, distinct = ''): KnowledgeMessage {
  const what = `${data.change}:${data.knowledgeId}@${data.version ?? 0}:${data.revision}`;
  const id = `fact:${cause.tenantId}:${what}${distinct === '' ? '' : `:${distinct}`}`;
  const subject = subjects.knowledgeEvent(cause.tenantId, data.knowledgeId);
  const task = data.taskId === null ? {} : { taskid: data.taskId };
  return toMessage(FactChanged, cause, id, subject, data, task);
}

/** Confirms a settlement. `sayingId` names its cause: the settle command, or the late candidate. */
export function toCandidatesSettled(cause: EventCause, data: DataOf<typeof CandidatesSettled>): KnowledgeMessage {
  const id = `settled:${cause.tenantId}:${data.taskId}:${cause.causationId}`;
  return toMessage(CandidatesSettled, cause, id, subjects.settled(cause.tenantId), data, { taskid: data.taskId });
}

function toMessage<M extends MessageDefinition>(
  definition: M,
  cause: EventCause,
  id: string,
  subject: string,
  data: DataOf<M>,
  task: { taskid?: string },
): KnowledgeMessage {
  const attributes = {
    id: id.slice(0, 200),
    source: SOURCE,
    subject,
    time: cause.at.toISOString(),
    tenantid: cause.tenantId,
    causationid: cause.causationId.slice(0, 200),
    ...task,
  };
  return {
    stream: 'EVENTS',
    subject,
    headers: cause.traceparent === undefined ? {} : { traceparent: cause.traceparent },
    body: JSON.stringify(toEnvelope(definition, attributes, data)),
    messageId: id,
  };
}
