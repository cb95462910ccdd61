import { deadLetter, type PulledMessage, PullLoop } from '@cleanslate/bus';
import { isAppError, parseSubject, toAppError } from '@cleanslate/contracts';
import type { SubmitItem } from '../ledger/items.ts';
import { describeSubmit, type RawSubmit, readSubmit } from '../ledger/read-submit.ts';
import type { WorkflowRegistry } from '../ledger/workflow-registry.ts';
import { SOURCE } from '../source.ts';
import { CONSUMERS, type HandlerContext, handBack, isMessageFault, NEWER_TRIES, readTraceparent } from './context.ts';
import type { Overtaker } from './overtake.ts';

const SLOTS = 300;
const MAX_ANSWERED = 10_000;
/** What nobody can read is kept as a dead letter; what is merely refused is the sender's to fix. */
const LETTER_CODES = new Set(['UNPARSEABLE', 'SCHEMA_MISMATCH', 'TENANT_MISMATCH', 'UNSUPPORTED_VERSION']);

/** Submits: each is answered after commit by `task.accepted` or `submit.refused`, and acked only then. */
export function startIntake(
  context: HandlerContext & {
    readonly registry: WorkflowRegistry;
    readonly overtaker: Overtaker;
    /** Reads again which workflows workers registered. */
    readonly learn: () => Promise<void>;
  },
): PullLoop {
  const { stream, durable } = CONSUMERS.intake;
  const loop = new PullLoop(context.bus, {
    stream,
    durable,
    slots: SLOTS,
    onMessage: (message) => void take(message),
    onProblem: context.onProblem,
  });
  /** Refused ones, by sequence: while their letters can't be stored they come again, but are answered only once. */
  const answered = new Set<number>();
  loop.start();
  return loop;

  async function take(message: PulledMessage): Promise<void> {
    context.overtaker.delivered(message.streamSequence);
    const tenantId = parseSubject(message.subject)?.tenantId ?? 'unknown';
    try {
      const traceparent = readTraceparent(message.headers.get('traceparent'));
      await context.ledger.apply(await read({ tenantId, body: message.data, traceparent }), 'bulk');
      message.ack();
    } catch (error) {
      await refuse(message, tenantId, error);
    }
  }

  /** A workflow that is unknown here may have been registered with another scheduler just now. */
  async function read(raw: RawSubmit): Promise<SubmitItem> {
    try {
      return readSubmit(raw, context.registry);
    } catch (error) {
      if (!isAppError(error) || error.code !== 'UNKNOWN_WORKFLOW') throw error;
      await context.learn();
      return readSubmit(raw, context.registry);
    }
  }

  function remember(sequence: number): void {
    if (answered.size >= MAX_ANSWERED) answered.clear();
    answered.add(sequence);
  }

  async function refuse(message: PulledMessage, tenantId: string, error: unknown): Promise<void> {
    const newer = isAppError(error) && error.code === 'UNSUPPORTED_VERSION' && message.deliveries <= NEWER_TRIES;
    if (newer || !isMessageFault(error)) return handBack(context, message, error);
    try {
      const refusal = toAppError(error, 'INVALID_INPUT');
      // A first delivery is new, even if a recreated stream counts from one again.
      if (message.deliveries === 1 || !answered.has(message.streamSequence)) {
        const item = { kind: 'refuse', tenantId, ...describeSubmit(message.data), error: refusal.toBody() } as const;
        await context.ledger.apply(item);
        if (LETTER_CODES.has(refusal.code)) remember(message.streamSequence);
      }
      if (!LETTER_CODES.has(refusal.code)) return message.ack();
      const options = { ...context, consumer: CONSUMERS.intake, source: SOURCE };
      await deadLetter(options, message, refusal);
    } catch (again) {
      handBack(context, message, again);
    }
  }
}
