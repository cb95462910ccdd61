import type { PulledMessage } from '@cleanslate/bus';
import {
  AppError,
  decodeMessage,
  type Envelope,
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

/**
 * What a message of the blackboard or of the commands says. Throws `UNPARSEABLE`, `SCHEMA_MISMATCH`, `TENANT_MISMATCH`: nobody can use it;
 * `UNSUPPORTED_VERSION`: a newer maintainer can.
 */
export function decodeKnowledgeMessage(message: Pick<PulledMessage, 'subject' | 'data'>): Decoded {
  const { definition, envelope } = decodeMessage([KnowledgePropose, KnowledgeSettle], message.data);
  const ids = parseSubject(message.subject);
  if (ids?.tenantId !== envelope.tenantid)
    throw new AppError('TENANT_MISMATCH', `subject ${message.subject} and envelope name different tenants`);
  const malformed = findMalformed(envelope.data);
  if (malformed !== undefined)
    throw new AppError(
      'SCHEMA_MISMATCH',
      `${malformed}: holds a character that can't be stored: send well-formed UTF-8`,
    );
  const command = message.subject.startsWith('cmd.');
  if (definition.name === KnowledgeSettle.name && command) return toSettlement(envelope);
  if (definition.name === KnowledgePropose.name && !command) return toCandidate(envelope, ids.taskId);
  throw new AppError('SCHEMA_MISMATCH', `type "${envelope.type}" is not read from ${message.subject}`);
}

function toSettlement(envelope: Envelope): Decoded {
  const data = KnowledgeSettle.data.parse(envelope.data);
  return { kind: 'settlement', settlement: { tenantId: envelope.tenantid, messageId: envelope.id, ...data } };
}

function toCandidate(envelope: Envelope, subjectTask: string | undefined): Decoded {
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
    saidAt: envelope.time,
  };
  return { kind: 'candidate', candidate };
}
