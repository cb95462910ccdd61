import { deadLetter, type PulledMessage, PullLoop } from '@cleanslate/bus';
import {
  AppError,
  decodeMessage,
  type Fence,
  isAppError,
  parseReportId,
  parseSubject,
  StepReport,
  toAppError,
} from '@cleanslate/contracts';
import { appliedKey } from '@cleanslate/domain/ledger';
import type { Span } from '@cleanslate/runtime/service';
import { keyOf } from '@cleanslate/store/ledger';
import type { InputItem } from '../ledger/items.ts';
import { SOURCE } from '../source.ts';
import { CONSUMERS, type HandlerContext, handBack, isMessageFault, NEWER_TRIES } from './context.ts';
import { refuseWorking } from './refuse-working.ts';

const SLOTS = 500;

/** How attempts ended: applied in batches, acked only after commit. One without the winning claim changes nothing. */
export function startReports(context: HandlerContext): PullLoop {
  const { stream, durable } = CONSUMERS.reports;
  const loop = new PullLoop(context.bus, {
    stream,
    durable,
    slots: SLOTS,
    onMessage: (message) => void take(message),
    onProblem: context.onProblem,
  });
  loop.start();
  return loop;

  async function take(message: PulledMessage): Promise<void> {
    let item: InputItem;
    try {
      item = readReport(message.subject, message.data);
    } catch (error) {
      if (isAppError(error) && error.code === 'UNSUPPORTED_VERSION') await awaitNewer(message, error);
      else await putAside(message, error);
      return;
    }
    const span = startSpan(message, item);
    try {
      await context.ledger.apply(item);
      message.ack();
      span.end();
    } catch (error) {
      span.end({ errorCode: isAppError(error) ? error.code : 'UNEXPECTED' });
      if (isMessageFault(error)) await refuseReport(message, item, error);
      else handBack(context, message, error);
    }
  }

  function startSpan(message: PulledMessage, { tenantId, taskId }: InputItem): Span {
    const attributes = { 'slate.tenant': tenantId, 'slate.task': taskId };
    return context.tracer.start('report', { parent: message.headers.get('traceparent'), kind: 'consumer', attributes });
  }

  /**
   * A rolling upgrade: another replica may read it. Where none does, the attempt is handed back with nothing
   * spent; the queue's time goes on.
   */
  async function awaitNewer(message: PulledMessage, error: unknown): Promise<void> {
    if (message.deliveries <= NEWER_TRIES) return handBack(context, message, error);
    const fence = findFence(message);
    if (fence === undefined) return await putAside(message, error);
    const report: StepReport = { outcome: 'released', reason: 'UNSUPPORTED_VERSION' };
    const { tenantId, taskId } = fence;
    try {
      await context.ledger.apply({ kind: 'input', tenantId, taskId, input: { kind: 'report', fence, report } });
      message.ack();
    } catch (again) {
      handBack(context, message, again);
    }
  }

  /**
   * A report nobody can read ends the attempt that its message id names, with its bytes in that step's letter; it is a
   * letter by itself where it names none.
   */
  async function putAside(message: PulledMessage, error: unknown): Promise<void> {
    const fence = findFence(message);
    if (fence !== undefined) {
      try {
        if (await endAttempt(fence, message, error)) return message.ack();
      } catch (again) {
        return handBack(context, message, again);
      }
    }
    await deadLetter({ ...context, consumer: CONSUMERS.reports, source: SOURCE }, message, error);
  }

  async function endAttempt(fence: Fence, message: PulledMessage, error: unknown): Promise<boolean> {
    const { tenantId, taskId, stepId, attempt, claimId } = fence;
    const role = parseSubject(message.subject)?.role;
    const body = { ...toAppError(error, 'UNPARSEABLE').toBody(), disposition: 'terminal' as const };
    const report: StepReport = { outcome: 'failed', error: body, raw: Buffer.from(message.data).toString('base64') };
    const input = { kind: 'report' as const, fence, report, ...(role === undefined ? {} : { role }) };
    const { state, now } = await context.ledger.apply({ kind: 'input', tenantId, taskId, input });
    const step = state?.steps.find((candidate) => candidate.stepId === stepId);
    return step?.endedAt === now && step.applied.includes(appliedKey(attempt, claimId));
  }

  /** A report that the database itself refuses would fail for ever: the attempt ends with it, as its worker's fault. */
  async function refuseReport(message: PulledMessage, item: InputItem, error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    if (item.input.kind !== 'report') return;
    const report: StepReport = {
      outcome: 'failed',
      error: new AppError('OUTPUT_CONTRACT', `the ledger can't store this report: ${reason}`).toBody(),
    };
    try {
      await context.ledger.apply({ ...item, input: { ...item.input, report } });
      message.ack();
    } catch (again) {
      handBack(context, message, again);
    }
  }
}

function findFence(message: PulledMessage): Fence | undefined {
  const fence = parseReportId(message.headers.get('Nats-Msg-Id'));
  const ids = parseSubject(message.subject);
  return fence?.tenantId === ids?.tenantId && fence?.taskId === ids?.taskId ? fence : undefined;
}

/** Throws `UNPARSEABLE`, `SCHEMA_MISMATCH`, `TENANT_MISMATCH`. */
export function readReport(subject: string, body: Uint8Array): InputItem {
  const ids = parseSubject(subject);
  const { envelope } = decodeMessage([StepReport], body);
  const { tenantid, taskid, stepid, attempt, claimid, epoch } = envelope;
  if (
    taskid === undefined ||
    stepid === undefined ||
    attempt === undefined ||
    claimid === undefined ||
    epoch === undefined
  ) {
    throw new AppError(
      'SCHEMA_MISMATCH',
      'a report names its attempt: taskid, stepid, attempt, claimid and epoch are required',
    );
  }
  if (ids?.tenantId !== tenantid || ids.taskId !== taskid || ids.role === undefined) {
    throw new AppError('TENANT_MISMATCH', `envelope and subject "${subject}" name different tenants or tasks`);
  }
  refuseWorking(envelope.data);
  const fence: Fence = { epoch, tenantId: tenantid, taskId: taskid, stepId: stepid, attempt, claimId: claimid };
  return {
    kind: 'input',
    tenantId: tenantid,
    taskId: taskid,
    taskKey: keyOf(fence),
    input: { kind: 'report', fence, report: envelope.data, role: ids.role },
  };
}
