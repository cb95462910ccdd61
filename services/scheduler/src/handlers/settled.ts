import { awaitNewerReader, deadLetter, type PulledMessage, PullLoop } from '@cleanslate/bus';
import { AppError, CandidatesSettled, decodeFromService } from '@cleanslate/contracts';
import { confirmSettlement, withTransaction } from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import { SOURCE } from '../source.ts';
import { CONSUMERS, type HandlerContext, handBack } from './context.ts';

/** The maintainer's confirmations. A listed candidate that never came in ten minutes becomes a dead letter. */
export function startSettled(context: HandlerContext): PullLoop {
  const { stream, durable } = CONSUMERS.settled;
  const loop = new PullLoop(context.bus, {
    stream,
    durable,
    slots: 100,
    onMessage: (message) => void take(message),
    onProblem: context.onProblem,
  });
  loop.start();
  return loop;

  async function take(message: PulledMessage): Promise<void> {
    let envelope: ReturnType<typeof decodeFromService<typeof CandidatesSettled>>['envelope'];
    try {
      envelope = decodeFromService([CandidatesSettled], message.data).envelope;
    } catch (error) {
      if (awaitNewerReader(message, error, context.rolloutMs)) return;
      await deadLetter({ ...context, consumer: CONSUMERS.settled, source: SOURCE }, message, error);
      return;
    }
    try {
      const { taskId, missing } = envelope.data;
      const { missingForGood } = await withTransaction(context.ledger.context.database, LEDGER_SCOPE, (tx) =>
        confirmSettlement(tx, envelope.tenantid, taskId, missing),
      );
      if (missingForGood.length > 0) {
        const error = new AppError(
          'CANDIDATE_MISSING',
          `candidates ${missingForGood.join(', ')} of task ${taskId} were reported but never reached the blackboard`,
        );
        await deadLetter({ ...context, consumer: CONSUMERS.settled, source: SOURCE }, message, error);
      } else message.ack();
    } catch (error) {
      handBack(context, message, error);
    }
  }
}
