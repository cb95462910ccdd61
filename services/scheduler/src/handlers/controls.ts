import { type Served, serveEndpoint } from '@cleanslate/bus';
import { AppError, DeadLetterDiscard, DeadLetterReplay, ObjectGet, ObjectPut, TaskCancel } from '@cleanslate/contracts';
import { scrub } from '@cleanslate/runtime/service';
import {
  discardLetter,
  findLetterForUpdate,
  findStoredObject,
  putObjects,
  requireActiveTenant,
  toObject,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import { findReplayReply } from '../ledger/apply-replays.ts';
import { SOURCE } from '../source.ts';
import type { HandlerContext } from './context.ts';
import { type ReplayContext, replayLetter } from './replay-letter.ts';

/**
 * Requests that change something, answered after commit and never queued behind submits; and the
 * objects that steps read and write.
 */
export function serveControls(
  context: HandlerContext & ReplayContext & { readonly onReplay: () => void },
): readonly Served[] {
  const { ledger, bus } = context;
  const { database } = ledger.context;
  return [
    serveEndpoint(bus, TaskCancel, SOURCE, async ({ tenantId, data: { taskId, reason }, envelope }) => {
      const input = { kind: 'cancel', reason: reason ?? 'cancelled by its tenant' } as const;
      const { cancelled, refused } = await ledger.apply({
        kind: 'control',
        tenantId,
        taskId,
        requestId: envelope.id,
        input,
      });
      if (refused !== null) throw AppError.fromBody(refused);
      if (cancelled === undefined) throw new AppError('NOT_FOUND', `task "${taskId}" is not known`);
      return cancelled;
    }),
    serveEndpoint(bus, DeadLetterReplay, SOURCE, async ({ tenantId, data, envelope }) => {
      await withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, async (tx) => {
        const known = await findReplayReply(tx, { tenantId, requestId: envelope.id });
        if (known === undefined) await requireActiveTenant(tx, tenantId);
      });
      const reply = await replayLetter(context, { tenantId, data, requestId: envelope.id });
      if (data.dryRun !== true) context.onReplay();
      return reply;
    }),
    serveEndpoint(bus, DeadLetterDiscard, SOURCE, ({ tenantId, data }) =>
      withTransaction(database, LEDGER_SCOPE, async (tx) => {
        const { letterId, reason } = data;
        const letter = await findLetterForUpdate(tx, tenantId, letterId);
        if (letter === undefined)
          throw new AppError('NOT_FOUND', `no dead letter "${letterId}" of this tenant: see "slate dlq list"`);
        if (letter.status === 'discarded') return { letterId, changed: false };
        if (letter.status !== 'open')
          throw new AppError('ALREADY_REPLAYED', `the letter is ${letter.status}: only an open one can be discarded`);
        await discardLetter(tx, letterId, scrub(reason));
        return { letterId, changed: true };
      }),
    ),
    serveEndpoint(bus, ObjectGet, SOURCE, async ({ tenantId, data }) => {
      const object = await withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, (tx) =>
        findStoredObject(tx, tenantId, data.sha256),
      );
      if (object === undefined) throw new AppError('NOT_FOUND', `no object ${data.sha256} of this tenant`);
      if (object.redactedAt !== null)
        throw new AppError(
          'NOT_FOUND',
          `object ${data.sha256} was erased by a redaction at ${object.redactedAt.toISOString()} ("slate fact redactions"): submit a new task with a document that may be kept`,
        );
      return { sha256: data.sha256, base64: Buffer.from(object.bytes).toString('base64') };
    }),
    serveEndpoint(bus, ObjectPut, SOURCE, async ({ tenantId, data }) => {
      const object = toObject(tenantId, Buffer.from(data.base64, 'base64'));
      if (object.bytes.length === 0) throw new AppError('INVALID_INPUT', 'data.base64 holds no bytes');
      await withTransaction(database, LEDGER_SCOPE, (tx) => putObjects(tx, [object]));
      return { sha256: object.sha256, bytes: object.bytes.length };
    }),
  ];
}
