import { AppError, canonicalJson } from '@cleanslate/contracts';
import { sha256, toKeyedRequest } from '@cleanslate/domain';
import {
  type Database,
  findRedactionKeys,
  findRequest,
  insertRequest,
  type KnowledgeHead,
  type KnowledgeOutboxRow,
  lockKnowledge,
  type Tx,
  withTransaction,
} from '@cleanslate/store';
import type { z } from 'zod';
import { findMalformed } from './well-formed.ts';

export type Call<T> = {
  readonly tenantId: string;
  /** The request's envelope id: a repetition gets the same answer. */
  readonly requestId: string;
  readonly data: T;
};
export type Answered<R> = { readonly reply: R; readonly outbox: readonly KnowledgeOutboxRow[] };

/**
 * Carries out a person's request in one transaction under the knowledge lock, once for each request id; a repetition
 * gets the stored answer. Throws `INVALID_INPUT` for text that can't be stored, `IDEMPOTENCY_CONFLICT` for a known id
 * with another body.
 */
export async function answerOnce<T, R>(
  database: Database,
  call: Call<T>,
  schema: z.ZodType<R>,
  work: (tx: Tx, head: KnowledgeHead) => Promise<Answered<R>>,
): Promise<Answered<R>> {
  const malformed = findMalformed(call.data);
  if (malformed !== undefined)
    throw new AppError('INVALID_INPUT', `${malformed}: holds half a surrogate pair: save the file as UTF-8`);
  const bodyHash = sha256(canonicalJson(call.data));
  return await withTransaction(database, { role: 'cleanslate_maintainer' }, async (tx) => {
    const head = await lockKnowledge(tx);
    const answered = await findRequest(tx, call.tenantId, call.requestId);
    if (answered !== undefined) {
      if (answered.bodyHash !== bodyHash && answered.bodyHash !== (await toKept(tx, call.tenantId, bodyHash))) {
        throw new AppError(
          'IDEMPOTENCY_CONFLICT',
          `request ${call.requestId} was answered for another body: send this one under a new id`,
        );
      }
      const stored = schema.safeParse(answered.reply);
      if (!stored.success)
        throw new AppError('INTERNAL', `the stored answer of request ${call.requestId} can't be read`);
      return { reply: stored.data, outbox: [] };
    }
    const done = await work(tx, head);
    const kept = await toKept(tx, call.tenantId, bodyHash);
    await insertRequest(tx, call.tenantId, call.requestId, { bodyHash: kept, reply: done.reply });
    return done;
  });
}

/** The stored form of the hash: keyed, once the tenant has redacted anything. */
async function toKept(tx: Tx, tenantId: string, bodyHash: string): Promise<string> {
  const key = (await findRedactionKeys(tx, [tenantId])).get(tenantId);
  return key === undefined ? bodyHash : toKeyedRequest(key, bodyHash);
}
