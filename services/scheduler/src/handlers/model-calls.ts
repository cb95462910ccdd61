import { type Served, type ServedRequest, serve } from '@cleanslate/bus';
import { AppError, decodeMessage, encodeMessage, ModelCallAsk, ModelCallReply } from '@cleanslate/contracts';
import { decideCall } from '@cleanslate/domain/ledger';
import {
  findCallUse,
  insertCall,
  isOpenCall,
  renewCalls,
  settleCall,
  type Tx,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import { type HandlerContext, toReplyAttributes } from './context.ts';

/** Beside claims and reports, which must not wait behind them for a database connection. */
const AT_ONCE = 2;

/**
 * The rights to call models, decided one after the other in the ledger, by its clock: whatever number of workers and
 * schedulers there are, no limit is passed.
 */
export function serveModelCalls(context: HandlerContext & { readonly modelLeaseMs: number }): Served {
  const { database } = context.ledger.context;
  return serve(context.bus, 'mdl.*', 'scheduler', answer, {
    concurrency: AT_ONCE,
    onError: (error, subject) => context.onProblem(`${subject}: ${error.message}`),
  });

  async function answer({ subject, body }: ServedRequest): Promise<Uint8Array> {
    const { envelope } = decodeMessage([ModelCallAsk], body);
    const ask = envelope.data;
    if (subject !== `mdl.${ask.role}`) throw new AppError('TENANT_MISMATCH', `role "${ask.role}" asked on ${subject}`);
    const reply = await withTransaction(database, LEDGER_SCOPE, (tx) => apply(tx, ask, context.modelLeaseMs));
    return encodeMessage(ModelCallReply, toReplyAttributes(envelope), reply);
  }
}

async function apply(tx: Tx, ask: ModelCallAsk, leaseMs: number): Promise<ModelCallReply> {
  if (ask.ask === 'renew') return { answer: 'done', lost: await renewCalls(tx, ask.callIds, leaseMs) };
  if (ask.ask === 'settle') {
    await settleCall(tx, { ...ask, cost: ask.cost });
    return { answer: 'done', lost: [] };
  }
  const { callId, model, tokens, cost = 0 } = ask;
  const scope = { tenantId: ask.attempt.tenantId, model };
  const uses = await findCallUse(tx, scope);
  const bounded = uses.some(({ limit }) => limit.maxRequests !== null);
  if (await isOpenCall(tx, callId)) return { answer: 'granted', leaseMs, bounded };
  const decision = decideCall(uses, { tokens, cost });
  if (decision.answer !== 'granted') return decision;
  // Whoever settled it, or let its lease end, no longer waits for this answer.
  if (!(await insertCall(tx, { ...scope, callId, tokens, cost, leaseMs })))
    return { answer: 'wait', limit: 'a call that has been ended', retryInMs: leaseMs };
  return { answer: 'granted', leaseMs, bounded: decision.bounded };
}
