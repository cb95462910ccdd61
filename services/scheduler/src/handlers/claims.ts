import { type Served, type ServedRequest, serve } from '@cleanslate/bus';
import {
  AppError,
  type ClaimAnswer,
  ClaimReply,
  ClaimRequest,
  ClaimWithReport,
  decodeMessage,
  encodeMessage,
  type Fence,
  isAppError,
} from '@cleanslate/contracts';
import { answerClaim, appliedKey } from '@cleanslate/domain';
import type { InputItem } from '../ledger/items.ts';
import type { HandlerContext } from './context.ts';
import { toFinishedReport } from './refuse-working.ts';

/** Claims: answered after commit, so a granted one is durable before its worker starts. */
export function serveClaims(context: HandlerContext): Served {
  return serve(context.bus, 'claim.*', 'scheduler', answer, {
    concurrency: 500,
    onError: (error, subject) => context.onProblem(`${subject}: ${error.message}`),
  });

  async function answer({ subject, body }: ServedRequest): Promise<Uint8Array> {
    const { envelope } = decodeMessage<typeof ClaimRequest | typeof ClaimWithReport>(
      [ClaimRequest, ClaimWithReport],
      body,
    );
    const { data } = envelope;
    const { worker, role } = data;
    if (subject !== `claim.${role}`) throw new AppError('TENANT_MISMATCH', `role "${role}" asked on ${subject}`);
    const answers = await Promise.all(
      'finished' in data
        ? data.finished.map((each) => finish(each, worker, role))
        : data.claims.map((fence) => claim(fence, worker, role)),
    );
    const attributes = {
      id: `${envelope.id}.reply`,
      source: '/services/scheduler',
      time: new Date().toISOString(),
      tenantid: envelope.tenantid,
      causationid: envelope.id,
    };
    return encodeMessage(ClaimReply, attributes, { answers });
  }

  async function claim(fence: Fence, worker: string, role: string): Promise<ClaimAnswer> {
    try {
      const { state, now } = await context.ledger.apply(toClaimItem(fence, worker, role));
      return answerClaim(state, fence, now, context.ledger.context.options);
    } catch (error) {
      return toBusy(fence, error);
    }
  }

  /** The claim, and right behind it in the same batch the report: without the claim it changes nothing. */
  async function finish(
    finished: ClaimWithReport['finished'][number],
    worker: string,
    role: string,
  ): Promise<ClaimAnswer> {
    const { fence } = finished;
    const { tenantId, taskId, stepId, attempt, claimId } = fence;
    const report = toFinishedReport(finished);
    try {
      const [, { state, now }] = await Promise.all([
        context.ledger.apply(toClaimItem(fence, worker, role)),
        context.ledger.apply({ kind: 'input', tenantId, taskId, input: { kind: 'report', fence, report, role } }),
      ]);
      const step = state?.steps.find((candidate) => candidate.stepId === stepId);
      if (step?.applied.includes(appliedKey(attempt, claimId)) && fence.epoch === state?.epoch)
        return { ...answerOf(fence), answer: 'granted' };
      return answerClaim(state, fence, now, context.ledger.context.options);
    } catch (error) {
      return toBusy(fence, error);
    }
  }

  function toBusy(fence: Fence, error: unknown): ClaimAnswer {
    if (!isAppError(error)) context.onProblem(`claim ${fence.taskId}/${fence.stepId}: ${String(error)}`);
    return { ...answerOf(fence), answer: 'busy' };
  }
}

function answerOf({ claimId, ...attempt }: Fence) {
  return { attempt, claimId };
}

function toClaimItem(fence: Fence, worker: string, role: string): InputItem {
  const { tenantId, taskId } = fence;
  return { kind: 'input', tenantId, taskId, input: { kind: 'claim', fence, worker, role } };
}
