import { type Served, type ServedRequest, serve } from '@cleanslate/bus';
import { AppError, decodeMessage, encodeMessage, WorkflowRegister, WorkflowRegisterReply } from '@cleanslate/contracts';
import { withTransaction } from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import type { WorkflowRegistry } from '../ledger/workflow-registry.ts';
import { type HandlerContext, toReplyAttributes } from './context.ts';

/**
 * Workflows that workers bring along: checked, stored, and known here before the answer; other schedulers
 * learn of them within a second.
 */
export function serveWorkflows(
  context: HandlerContext & { readonly registry: WorkflowRegistry; readonly learn: () => Promise<void> },
): Served {
  const { registry } = context;
  const { database } = context.ledger.context;
  return serve(context.bus, 'reg.*', 'scheduler', answer, {
    onError: (error, subject) => context.onProblem(`${subject}: ${error.message}`),
  });

  async function answer({ subject, body }: ServedRequest): Promise<Uint8Array> {
    const { envelope } = decodeMessage([WorkflowRegister], body);
    const { role, workflows: plans } = envelope.data;
    if (subject !== `reg.${role}`) throw new AppError('TENANT_MISMATCH', `role "${role}" asked on ${subject}`);
    const workflows = await withTransaction(database, LEDGER_SCOPE, (tx) => registry.register(tx, role, plans));
    await context.learn();
    const registered = workflows.map(({ name, planHash }) => ({ workflow: name, planHash }));
    return encodeMessage(WorkflowRegisterReply, toReplyAttributes(envelope), { registered });
  }
}
