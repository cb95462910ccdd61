import type { PulledMessage } from '@cleanslate/bus';
import {
  AppError,
  decodeFromService,
  decodeMessage,
  type Envelope,
  HEADERS,
  KnowledgePropose,
  KnowledgeSettle,
  parseSubject,
} from '@cleanslate/contracts';
import { cleanCandidate, DEFAULT_SENSITIVE } from '@cleanslate/domain';
import type { NewCandidate, TaskSettlement } from '@cleanslate/store';
import type { SaidUse } from './record-usage.ts';
import { findMalformed } from './well-formed.ts';

export type Decoded =
  | { readonly kind: 'candidate'; readonly candidate: NewCandidate }
  | { readonly kind: 'settlement'; readonly settlement: TaskSettlement & SaidUse };

type Message = Pick<PulledMessage, 'subject' | 'data' | 'headers' | 'storedAt'>;

/**
 * Decodes a message of the blackboard or of the commands. Throws `UNPARSEABLE`, `SCHEMA_MISMATCH`, `TENANT_MISMATCH`:
 * nobody can use it; `UNSUPPORTED_VERSION`: a newer maintainer can.
 */
export function decodeKnowledgeMessage(message: Message): Decoded {
  const command = message.subject.startsWith('cmd.');
  const decode = command ? decodeFromService : decodeMessage;
  const { definition, envelope } = decode([KnowledgePropose, KnowledgeSettle], message.data);
  const ids = parseSubject(message.subject);
  if (ids?.tenantId !== envelope.tenantid)
    throw new AppError('TENANT_MISMATCH', `subject ${message.subject} and envelope name different tenants`);
  const malformed = findMalformed(envelope.data);
  if (malformed !== undefined)
    throw new AppError(
      'SCHEMA_MISMATCH',
      `${malformed}: holds a character that can't be stored: send well-formed UTF-8`,
    );
  if (definition.name === KnowledgeSettle.name && command) return toSettlement(envelope);
  if (definition.name === KnowledgePropose.name && !command) return toCandidate(envelope, ids.taskId, message);
  throw new AppError('SCHEMA_MISMATCH', `type "${envelope.type}" is not read from ${message.subject}`);
}

function toSettlement(envelope: Envelope): Decoded {
  const data = KnowledgeSettle.data.parse(envelope.data);
  return { kind: 'settlement', settlement: { tenantId: envelope.tenantid, messageId: envelope.id, ...data } };
}

function toCandidate(envelope: Envelope, subjectTask: string | undefined, message: Message): Decoded {
  const { taskid, stepid, attempt, claimid, candidateid } = envelope;
  if (taskid === undefined || taskid !== subjectTask)
    throw new AppError('TENANT_MISMATCH', 'subject and envelope name different tasks');
  if (stepid === undefined || attempt === undefined || claimid === undefined || candidateid === undefined) {
    throw new AppError('SCHEMA_MISMATCH', 'a candidate needs stepid, attempt, claimid and candidateid in its envelope');
  }
  const candidate: NewCandidate = {
    tenantId: envelope.tenantid,
    candidateId: candidateid,
    taskId: taskid,
    stepId: stepid,
    attempt,
    claimId: claimid,
    epoch: envelope.epoch ?? null,
    messageId: envelope.id,
    body: cleanCandidate(KnowledgePropose.data.parse(envelope.data), DEFAULT_SENSITIVE),
    saidAt: toSaidAt(envelope, message),
  };
  return { kind: 'candidate', candidate };
}

/**
 * When the broker received it: one clock for all, since a machine whose clock is slow would otherwise speak of the
 * past, and its newest statement would never take effect. What comes back from a letter keeps its author's time: it
 * must not overwrite what was stated since.
 */
function toSaidAt(envelope: Envelope, { headers, storedAt }: Message): string {
  return headers.get(HEADERS.replayOf) === '' ? new Date(storedAt).toISOString() : envelope.time;
}
