import { type Served, serveEndpoint } from '@cleanslate/bus';
import { AppError, type Fence, SessionRead, SessionReset, SessionWrite } from '@cleanslate/contracts';
import { readSession, resetSession, type Tx, withTransaction, writeSession } from '@cleanslate/store/ledger';
import { SOURCE } from '../source.ts';
import type { HandlerContext } from './context.ts';

/**
 * Sessions of users' agents. The tenant is the subject's, which the asker's credential fences, and the transaction is
 * bound to it: row-level security shows no other. A worker's credential serves all tenants, so it has to show the claim
 * under which it works for this one.
 */
export function serveSessions({ bus, ledger }: Pick<HandlerContext, 'bus' | 'ledger'>): readonly Served[] {
  const { database } = ledger.context;
  const inTenant = <T>(tenantId: string, readOnly: boolean, work: (tx: Tx) => Promise<T>) =>
    withTransaction(database, { role: 'cleanslate_scheduler', tenantId, readOnly }, work);
  return [
    serveEndpoint(bus, SessionRead, SOURCE, async ({ tenantId, data: { sessionId, fence } }) => {
      requireSameTenant(tenantId, fence);
      return await inTenant(tenantId, true, (tx) => readSession(tx, sessionId, fence));
    }),
    serveEndpoint(bus, SessionWrite, SOURCE, async ({ tenantId, data }) => {
      requireSameTenant(tenantId, data.fence);
      return await inTenant(tenantId, false, (tx) => writeSession(tx, data));
    }),
    serveEndpoint(bus, SessionReset, SOURCE, async ({ tenantId, data: { sessionId } }) => {
      const removed = await inTenant(tenantId, false, (tx) => resetSession(tx, tenantId, sessionId));
      return { sessionId, removed };
    }),
  ];
}

function requireSameTenant(tenantId: string, fence: Fence): void {
  if (fence.tenantId === tenantId) return;
  throw new AppError('TENANT_MISMATCH', 'fence and subject name different tenants');
}
