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
import { answerClaim, appliedKey, findStep } from '@cleanslate/domain/ledger';
import { keyOf } from '@cleanslate/store/ledger';
import type { InputItem, LedgerResult } from '../ledger/items.ts';
import { type HandlerContext, toReplyAttributes } from './context.ts';
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
    const answers =
      'finished' in data ? await finish(data.finished, worker, role) : await claim(data.claims, worker, role);
    return encodeMessage(ClaimReply, toReplyAttributes(envelope), { answers });
  }

  async function claim(fences: readonly Fence[], worker: string, role: string): Promise<ClaimAnswer[]> {
    const results = await context.ledger.applyAll(
      fences.map((fence) => toClaimItem(fence, keyOf(fence), worker, role)),
    );
    return fences.map((fence, i) => toAnswer(fence, results[i]));
  }

  /** Each claim, and right behind it the report: without the claim it changes nothing. */
  async function finish(finished: ClaimWithReport['finished'], worker: string, role: string): Promise<ClaimAnswer[]> {
    const items: InputItem[] = [];
    for (const each of finished) {
      const taskKey = keyOf(each.fence);
      items.push(toClaimItem(each.fence, taskKey, worker, role), toReportItem(each, taskKey, role));
    }
    const results = await context.ledger.applyAll(items);
    return finished.map(({ fence }, i) => {
      const claimed = results[2 * i];
      const reported = results[2 * i + 1];
      if (claimed instanceof Error) return toBusy(fence, claimed);
      return isApplied(fence, reported) ? { ...answerOf(fence), answer: 'granted' } : toAnswer(fence, reported);
    });
  }

  function toAnswer(fence: Fence, result: LedgerResult | Error | undefined): ClaimAnswer {
    if (result instanceof Error) return toBusy(fence, result);
    return answerClaim(result?.state, fence, result?.now ?? 0, context.ledger.context.options);
  }

  function toBusy(fence: Fence, error: Error): ClaimAnswer {
    if (!isAppError(error)) context.onProblem(`claim ${fence.taskId}/${fence.stepId}: ${String(error)}`);
    return { ...answerOf(fence), answer: 'busy' };
  }
}

function isApplied({ epoch, stepId, attempt, claimId }: Fence, result: LedgerResult | Error | undefined): boolean {
  if (result === undefined || result instanceof Error || result.state?.epoch !== epoch) return false;
  return findStep(result.state, stepId)?.applied.includes(appliedKey(attempt, claimId)) === true;
}

function answerOf({ claimId, ...attempt }: Fence) {
  return { attempt, claimId };
}

function toClaimItem(fence: Fence, taskKey: string, worker: string, role: string): InputItem {
  const { tenantId, taskId } = fence;
  return { kind: 'input', tenantId, taskId, taskKey, input: { kind: 'claim', fence, worker, role } };
}

function toReportItem(finished: ClaimWithReport['finished'][number], taskKey: string, role: string): InputItem {
  const { fence } = finished;
  const { tenantId, taskId } = fence;
  return {
    kind: 'input',
    tenantId,
    taskId,
    taskKey,
    input: { kind: 'report', fence, report: toFinishedReport(finished), role },
  };
}
