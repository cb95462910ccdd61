import { awaitNewerReader, deadLetter, type PulledMessage, PullLoop } from '@cleanslate/bus';
import { DeadLettered, decodeMessage } from '@cleanslate/contracts';
import type { LetterItem } from '../ledger/items.ts';
import { toLetterReason } from '../ledger/letter-reason.ts';
import { SOURCE } from '../source.ts';
import { CONSUMERS, type HandlerContext, handBack } from './context.ts';

/** Messages that services could not read, into the ledger's record; acked only after the row is committed. */
export function startDeadLetters(context: HandlerContext): PullLoop {
  const { stream, durable } = CONSUMERS.deadLetters;
  const loop = new PullLoop(context.bus, {
    stream,
    durable,
    slots: 50,
    onMessage: (message) => void take(message),
    onProblem: context.onProblem,
  });
  loop.start();
  return loop;

  async function take(message: PulledMessage): Promise<void> {
    let item: LetterItem;
    try {
      const { envelope } = decodeMessage([DeadLettered], message.data);
      item = {
        kind: 'letter',
        tenantId: envelope.tenantid === 'unknown' ? null : envelope.tenantid,
        letter: { ...envelope.data, error: toLetterReason(envelope.data.error) },
      };
    } catch (error) {
      if (awaitNewerReader(message, error, context.rolloutMs)) return;
      // Wrapped in a letter that can be read, it comes round once more.
      await deadLetter({ ...context, consumer: CONSUMERS.deadLetters, source: SOURCE }, message, error);
      return;
    }
    try {
      await context.ledger.apply(item);
      message.ack();
    } catch (error) {
      handBack(context, message, error);
    }
  }
}
