import { type Served, type ServedRequest, serve } from '@cleanslate/bus';
import { AppError, decodeMessage, encodeMessage, Heartbeat, HeartbeatReply } from '@cleanslate/contracts';
import { applyHeartbeats, withTransaction } from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import { Batcher } from '../ledger/batcher.ts';
import { type HandlerContext, toReplyAttributes } from './context.ts';

/**
 * Heartbeats extend leases and announce slots; nothing of that is a decision, so they bypass the
 * machine and its locks on tasks.
 */
export function serveHeartbeats(context: HandlerContext, onSlots: () => void): Served {
  const { database, epoch, options } = context.ledger.context;
  const slotsOf = new Map<string, number>();
  const batcher = new Batcher(
    async (beats: readonly Heartbeat[]) => {
      const answers = await withTransaction(database, { ...LEDGER_SCOPE, relaxedDurability: true }, (tx) =>
        applyHeartbeats(tx, epoch, beats, options.leaseMs),
      );
      return beats.map((beat) => answers.get(beat.worker) ?? { lost: [], cancelled: [], settled: [] });
    },
    { maxBatch: 200 },
  );
  return serve(context.bus, 'hb.*', 'scheduler', answer, {
    concurrency: 500,
    onError: (error, subject) => context.onProblem(`${subject}: ${error.message}`),
  });

  async function answer({ subject, body }: ServedRequest): Promise<Uint8Array> {
    const { envelope } = decodeMessage([Heartbeat], body);
    const beat = envelope.data;
    if (subject !== `hb.${beat.role}`) throw new AppError('TENANT_MISMATCH', `role "${beat.role}" asked on ${subject}`);
    const reply = await batcher.add(beat);
    if (slotsOf.get(beat.worker) !== beat.slots) {
      // Worker ids are new with every start: the map is only a memory of what changed, so it may forget.
      if (slotsOf.size > 1_000) slotsOf.clear();
      slotsOf.set(beat.worker, beat.slots);
      onSlots();
    }
    return encodeMessage(HeartbeatReply, toReplyAttributes(envelope), { leaseMs: options.leaseMs, ...reply });
  }
}
