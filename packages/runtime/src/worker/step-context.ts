import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, backoffMs, type Publisher } from '@cleanslate/bus';
import {
  AppError,
  type AttemptRef,
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
import type { SlowWatch, Watched } from './slow-watch.ts';
import { type OpenModel, openStepModel, type StepModel } from './step-model.ts';
import { toOutputText } from './step-report.ts';

export type StepServices = {
  readonly bus: Bus;
  readonly publisher: Publisher;
  readonly objects: ObjectStore;
  readonly desk: ClaimDesk;
  readonly model: ModelProvider;
  readonly sessions: SessionStore;
  /** A step that ends sooner does not announce its start: two messages for nothing. */
  readonly slow: SlowWatch;
  readonly role: string;
  readonly source: string;
  readonly logger: Logger;
};

const MAX_CANDIDATES = 1_000;
/** Pause between two rounds of asking whether a claim still holds. */
const FENCE_AGAIN = { firstMs: 200, maxMs: 2_000 };

/**
 * The context of one run, and what its runner has to know of it. Most steps use little of it, so each part is made when
 * it is asked for.
 */
export class OpenContext {
  readonly context: StepContext;
  /** Each resolves to the id of a proposal once it is stored: a report must not name one that might get lost. */
  readonly proposals: Promise<string>[] = [];
  readonly #services: StepServices;
  readonly #claim: Claim;
  readonly #command: StepRun;
  readonly #pure: boolean;
  readonly #attempt: AttemptRef;
  readonly #slow: Watched;
  #saidStarted = false;
  #over = false;
  #logger: Logger | undefined;
  #model: OpenModel | undefined;
  #sessions: OpenSessions | undefined;

  constructor(services: StepServices, claim: Claim, command: StepRun, pure: boolean) {
    const { epoch, tenantId, taskId, stepId, attempt } = claim.fence;
    this.#services = services;
    this.#claim = claim;
    this.#command = command;
    this.#pure = pure;
    this.#attempt = { epoch, tenantId, taskId, stepId, attempt };
    this.context = this.#toContext();
    this.#slow = services.slow.watch(() => {
      this.#saidStarted = true;
      tellProgress(services, claim, 'started');
    });
  }

  /** Tokens and requests of its model calls. */
  get modelUsage(): ModelUsage {
    return this.#model?.usage() ?? NO_USAGE;
  }

  /** Stores what it said in sessions, once it has succeeded. Undefined: it opened none. */
  storeSessions(): Promise<void> | undefined {
    return this.#sessions?.store().catch((error: unknown) => {
      if (isAppError(error) && error.code === 'STALE_ATTEMPT') this.#claim.stop('lost');
      throw error;
    });
  }

  /** Afterwards nothing that the executor left running can do anything under this claim. */
  end(): void {
    this.#over = true;
    this.#services.slow.forget(this.#slow);
    if (this.#saidStarted) tellProgress(this.#services, this.#claim, 'ended');
  }

  /** Its parts are own properties, so that an executor may destructure it and pass copies on. */
  #toContext(): StepContext {
    const open = this;
    const claim = this.#claim;
    const { round, pin, workflow, idempotencyKey } = this.#command;
    const { tenantId, taskId } = this.#attempt;
    return {
      attempt: this.#attempt,
      round,
      pin,
      workflow,
      idempotencyKey,
      tenantId,
      taskId,
      get signal() {
        return claim.signal;
      },
      deadline: () => claim.remainingMs(),
      get logger() {
        return open.#openLogger();
      },
      fence: () => open.#fence(),
      progress: (message, fraction) => {
        if (!open.#over) tellProgress(open.#services, claim, 'progress', message, fraction);
      },
      blackboard: { propose: (candidate) => open.#propose(candidate) },
      get model() {
        return open.#openModel();
      },
      context: buildContext,
      get session() {
        return open.#openSessions();
      },
      documents: { read: (ref) => readDocument(open.#services.objects, tenantId, ref, claim.signal) },
    };
  }

  #openLogger(): Logger {
    const { taskId, stepId, attempt, tenantId } = this.#attempt;
    this.#logger ??= this.#services.logger.child({ task: taskId, step: stepId, attempt, tenant: tenantId });
    return this.#logger;
  }

  #openModel(): StepModel {
    this.#model ??= openStepModel(this.#services.model, {
      signal: this.#claim.signal,
      attempt: this.#attempt,
      pure: this.#pure,
    });
    return this.#model.model;
  }

  #openSessions(): StepContext['session'] {
    this.#sessions ??= openStepSessions(this.#services.sessions, {
      fence: this.#claim.fence,
      round: this.#command.round,
      signal: this.#claim.signal,
      logger: () => this.#openLogger(),
      requireOpen: () => {
        if (this.#over) throw new AppError('STALE_ATTEMPT', 'the step is over: use its sessions before it returns');
        if (this.#pure) throw toImpure('session()');
      },
    });
    return this.#sessions.open;
  }

  #fence(): Promise<void> {
    return this.#pure ? Promise.reject(toImpure('fence()')) : checkFence(this.#services.desk, this.#claim);
  }

  #propose(candidate: CandidateValue): Promise<string> {
    if (this.#over) {
      return Promise.reject(new AppError('STALE_ATTEMPT', 'the step is over: propose before it returns'));
    }
    if (this.#pure) return Promise.reject(toImpure('blackboard.propose()'));
    const proposal = propose(this.#services, this.#claim, candidate, this.proposals.length + 1);
    // Awaited again before the report; without a handler a forgotten one would end the process.
    proposal.catch(() => undefined);
    this.proposals.push(proposal);
    return proposal;
  }
}

/** It may run before its claim is granted, and beside another run: what it did could not be undone. */
function toImpure(what: string): AppError {
  return new AppError('OUTPUT_CONTRACT', `a pure executor has no use for ${what}: define it without \`pure: true\``);
}

/**
 * Asking again with the winning claim id is granted again; any other answer means that it no longer holds. While the
 * ledger can't be asked, the step waits: an outage must not cost it an attempt, and nothing may be done to the outside
 * on a claim that may be gone.
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
  const time = new Date().toISOString();
  const attributes = {
    id: candidateId,
    source: services.source,
    time,
    tenantid: fence.tenantId,
    taskid: fence.taskId,
    stepid: fence.stepId,
    attempt: fence.attempt,
    claimid: fence.claimId,
    candidateid: candidateId,
    epoch: fence.epoch,
  };
  const body = encodeMessage(KnowledgePropose, attributes, parsed.data);
  const subject = subjects.blackboard(fence.tenantId, fence.taskId);
  const publication = {
    stream: 'BLACKBOARD',
    subject,
    body,
    // One saying, not one candidate: a tenant that was removed and added again may say the same anew.
    messageId: `propose:${candidateId}:${time}`,
    headers: claim.trace,
  };
  await services.publisher.publish(publication, { signal: claim.signal });
  return candidateId;
}

/** Reports progress to whoever watches; may get lost. */
function tellProgress(
  services: StepServices,
  { fence }: Claim,
  kind: 'started' | 'progress' | 'ended',
  message?: string,
  fraction?: number,
): void {
  const now = new Date().toISOString();
  const id = `${fence.claimId}:${now}`;
  const attributes = { id, source: services.source, time: now, tenantid: fence.tenantId, taskid: fence.taskId };
  const data = {
    kind,
    role: services.role,
    at: now,
    ...(message === undefined ? {} : { message: toStorableText(message.replaceAll('\0', ' '), 500) }),
    ...(fraction === undefined || Number.isNaN(fraction) ? {} : { fraction: Math.min(1, Math.max(0, fraction)) }),
  };
  try {
    const body = encodeMessage(StepProgress, { ...attributes, stepid: fence.stepId, attempt: fence.attempt }, data);
    services.bus.publish(subjects.progress(fence.tenantId, fence.taskId), body);
  } catch {
    // Neither a message that is too large nor a lost connection is the step's concern.
  }
}
