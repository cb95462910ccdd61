import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, backoffMs, type Publisher } from '@cleanslate/bus';
import {
  AppError,
  Candidate,
  type Candidate as CandidateValue,
  encodeMessage,
  isAppError,
  KnowledgePropose,
  mismatch,
  StepProgress,
  type StepRun,
  subjects,
  toStorableText,
} from '@cleanslate/contracts';
import { type ModelProvider, type ModelUsage, NO_USAGE } from '@cleanslate/llm';
import type { StepContext } from '../executor/executor.ts';
import type { Logger } from '../log/logger.ts';
import { buildContext } from '../memory/build-context.ts';
import { type OpenSessions, openStepSessions } from '../memory/session.ts';
import type { SessionStore } from '../memory/session-store.ts';
import { type Claim, toCandidateId, toStopError } from './claim.ts';
import type { ClaimDesk } from './claim-desk.ts';
import { type ObjectStore, readDocument } from './objects.ts';
import type { SlowWatch } from './slow-watch.ts';
import { type OpenModel, openStepModel } from './step-model.ts';
import { toOutputText } from './step-report.ts';

export type StepServices = {
  readonly bus: Bus;
  readonly publisher: Publisher;
  readonly objects: ObjectStore;
  readonly desk: ClaimDesk;
  readonly model: ModelProvider;
  readonly sessions: SessionStore;
  /** A step that is over sooner tells nobody that it started: two messages for nothing. */
  readonly slow: SlowWatch;
  readonly role: string;
  readonly source: string;
  readonly logger: Logger;
};

export type OpenContext = {
  readonly context: StepContext;
  /** Each the id of a proposal, once it is stored: a report must not name one that might get lost. */
  readonly proposals: readonly Promise<string>[];
  /** Stores what it said in sessions, once it has succeeded. Undefined: it opened none. */
  readonly storeSessions: () => Promise<void> | undefined;
  /** What its calls of the model used. */
  readonly modelUsage: () => ModelUsage;
  /** After it the executor's leftovers can do nothing more under this claim. */
  readonly end: () => void;
};

const MAX_CANDIDATES = 1_000;
/** Between two rounds of asking whether a claim still holds. */
const FENCE_AGAIN = { firstMs: 200, maxMs: 2_000 };

export function makeStepContext(services: StepServices, claim: Claim, command: StepRun, pure: boolean): OpenContext {
  const { fence } = claim;
  const { epoch, tenantId, taskId, stepId } = fence;
  const attempt = { epoch, tenantId, taskId, stepId, attempt: fence.attempt };
  const proposals: Promise<string>[] = [];
  let over = false;
  // Most steps use few of these: each is made when it is asked for.
  let logger: Logger | undefined;
  let model: OpenModel | undefined;
  let sessions: OpenSessions | undefined;
  const progress = openProgress(services, claim);
  const stepLogger = () => {
    logger ??= services.logger.child({
      ...{ task: taskId, step: stepId, attempt: fence.attempt, tenant: tenantId },
    });
    return logger;
  };
  const requireOpen = () => {
    if (over) throw new AppError('STALE_ATTEMPT', 'the step is over: use its sessions before it returns');
    if (pure) throw toImpure('session()');
  };
  const context: StepContext = {
    attempt,
    round: command.round,
    pin: command.pin,
    workflow: command.workflow,
    idempotencyKey: command.idempotencyKey,
    tenantId,
    taskId,
    get signal() {
      return claim.signal;
    },
    deadline: () => claim.remainingMs(),
    get logger() {
      return stepLogger();
    },
    fence: () => (pure ? Promise.reject(toImpure('fence()')) : checkFence(services.desk, claim)),
    progress: (message, fraction) => {
      if (!over) progress.tell('progress', message, fraction);
    },
    blackboard: {
      propose: (candidate) => {
        if (over) return Promise.reject(new AppError('STALE_ATTEMPT', 'the step is over: propose before it returns'));
        if (pure) return Promise.reject(toImpure('blackboard.propose()'));
        const proposal = propose(services, claim, candidate, proposals.length + 1);
        // Awaited once more before the report; without a handler a forgotten one would end the process.
        proposal.catch(() => undefined);
        proposals.push(proposal);
        return proposal;
      },
    },
    get model() {
      model ??= openStepModel(services.model, { signal: claim.signal, attempt, pure });
      return model.model;
    },
    context: buildContext,
    get session() {
      sessions ??= openStepSessions(services.sessions, {
        ...{ fence, round: command.round, signal: claim.signal, logger: stepLogger, requireOpen },
      });
      return sessions.open;
    },
    documents: { read: (ref) => readDocument(services.objects, tenantId, ref, claim.signal) },
  };
  const end = () => {
    over = true;
    progress.end();
  };
  const storeSessions = () =>
    sessions?.store().catch((error: unknown) => {
      if (isAppError(error) && error.code === 'STALE_ATTEMPT') claim.stop('lost');
      throw error;
    });
  const modelUsage = () => model?.usage() ?? NO_USAGE;
  return { context, proposals, storeSessions, modelUsage, end };
}

/** It may run before its claim is granted, and beside another: what it did would not be undone. */
function toImpure(what: string): AppError {
  return new AppError('OUTPUT_CONTRACT', `a pure executor has no use for ${what}: define it without \`pure: true\``);
}

/**
 * Asking again with the winning claim id is granted again: anything else means that it no longer holds. While the ledger can't be asked, the step
 * waits: an outage must not cost it an attempt, and nothing may be done to the outside on a claim that may be gone.
 */
async function checkFence(desk: ClaimDesk, claim: Claim): Promise<void> {
  for (let tries = 1; ; tries++) {
    claim.signal.throwIfAborted();
    const outcome = await desk.ask(claim.fence);
    claim.signal.throwIfAborted();
    if (outcome !== 'unanswered' && outcome.answer === 'granted') return;
    if (outcome !== 'unanswered' && outcome.answer !== 'busy') break;
    await sleep(backoffMs(tries, FENCE_AGAIN), undefined, { signal: claim.signal }).catch(() => undefined);
  }
  claim.stop('lost');
  throw toStopError('lost');
}

async function propose(services: StepServices, claim: Claim, candidate: CandidateValue, n: number): Promise<string> {
  if (n > MAX_CANDIDATES)
    throw new AppError('OUTPUT_CONTRACT', `a step may propose at most ${MAX_CANDIDATES} candidates`);
  const parsed = Candidate.safeParse(candidate);
  if (!parsed.success) throw new AppError('OUTPUT_CONTRACT', mismatch('candidate', parsed.error).message);
  toOutputText(parsed.data, 'candidate');
  const { fence } = claim;
  const candidateId = toCandidateId(fence, n);
  const attributes = {
    ...{ id: candidateId, source: services.source, time: new Date().toISOString() },
    ...{ tenantid: fence.tenantId, taskid: fence.taskId, stepid: fence.stepId, attempt: fence.attempt },
    ...{ claimid: fence.claimId, candidateid: candidateId, epoch: fence.epoch },
  };
  const body = encodeMessage(KnowledgePropose, attributes, parsed.data);
  const subject = subjects.blackboard(fence.tenantId, fence.taskId);
  const publication = {
    stream: 'BLACKBOARD',
    subject,
    body,
    messageId: `propose:${candidateId}`,
    headers: claim.trace,
  };
  await services.publisher.publish(publication, { signal: claim.signal });
  return candidateId;
}

function openProgress(services: StepServices, claim: Claim) {
  const { fence } = claim;
  let started = false;
  const tell = (kind: 'started' | 'progress' | 'ended', message?: string, fraction?: number) => {
    const now = new Date().toISOString();
    const id = `${fence.claimId}:${now}`;
    const attributes = { id, source: services.source, time: now, tenantid: fence.tenantId, taskid: fence.taskId };
    const data = {
      ...{ kind, role: services.role, at: now },
      ...(message === undefined ? {} : { message: toStorableText(message.replaceAll('\0', ' '), 500) }),
      ...(fraction === undefined || Number.isNaN(fraction) ? {} : { fraction: Math.min(1, Math.max(0, fraction)) }),
    };
    try {
      const body = encodeMessage(StepProgress, { ...attributes, stepid: fence.stepId, attempt: fence.attempt }, data);
      services.bus.publish(subjects.progress(fence.tenantId, fence.taskId), body);
    } catch {
      // Progress may get lost.
    }
  };
  const watched = services.slow.watch(() => {
    started = true;
    tell('started');
  });
  const end = () => {
    services.slow.forget(watched);
    if (started) tell('ended');
  };
  return { tell, end };
}
