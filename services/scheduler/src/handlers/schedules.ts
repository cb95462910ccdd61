import { type Served, serveEndpoint } from '@cleanslate/bus';
import {
  AppError,
  type RequestOf,
  ScheduleDelete,
  SchedulePause,
  SchedulePut,
  ScheduleResume,
  type ValueOf,
} from '@cleanslate/contracts';
import { checkCron, findNextDue } from '@cleanslate/domain/ledger';
import {
  deleteSchedule,
  findScheduleForUpdate,
  putSchedule,
  readKnowledgeRevision,
  requireActiveTenant,
  type ScheduleKey,
  type ScheduleSettings,
  switchSchedule,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import { toRun } from '../ledger/fire-schedules.ts';
import type { WorkflowRegistry } from '../ledger/workflow-registry.ts';
import { SOURCE } from '../source.ts';
import type { HandlerContext } from './context.ts';

/** Schedules are put, switched and deleted here; each change is one row, and saying it again changes nothing. */
export function serveSchedules(context: HandlerContext & { readonly registry: WorkflowRegistry }): readonly Served[] {
  const { bus, ledger } = context;
  const { database } = ledger.context;
  const switchTo = (enabled: boolean) => async (key: ScheduleKey) => {
    return await withTransaction(database, LEDGER_SCOPE, async (tx) => {
      const found = await findScheduleForUpdate(tx, key);
      if (found === undefined) throw unknown(key);
      const changed = found.enabled !== enabled;
      const nextDueAt = changed && enabled ? findNextDue(found, found.now) : (found.nextDueAt?.getTime() ?? null);
      if (changed) await switchSchedule(tx, key, enabled, nextDueAt);
      return toReply(key, changed, enabled && nextDueAt !== null ? new Date(nextDueAt) : null);
    });
  };
  return [
    serveEndpoint(bus, SchedulePut, SOURCE, async ({ tenantId, data }) => {
      const settings = toSettings(tenantId, data);
      checkCron(settings);
      toRun(settings, 0, context.registry);
      return await withTransaction(database, LEDGER_SCOPE, async (tx) => {
        await requireActiveTenant(tx, tenantId);
        const { nowMs } = await readKnowledgeRevision(tx);
        const nextDueAt = await putSchedule(tx, settings, findNextDue(settings, nowMs));
        return toReply(settings, true, nextDueAt);
      });
    }),
    serveEndpoint(bus, ScheduleDelete, SOURCE, async ({ tenantId, data }) => {
      const key = { tenantId, scheduleId: data.scheduleId };
      const deleted = await withTransaction(database, LEDGER_SCOPE, (tx) => deleteSchedule(tx, key));
      return toReply(key, deleted, null);
    }),
    serveEndpoint(bus, SchedulePause, SOURCE, ({ tenantId, data }) => switchTo(false)({ tenantId, ...data })),
    serveEndpoint(bus, ScheduleResume, SOURCE, ({ tenantId, data }) => switchTo(true)({ tenantId, ...data })),
  ];
}

/** With the defaults that the contract names. */
function toSettings(tenantId: string, put: RequestOf<typeof SchedulePut>): ScheduleSettings {
  const { timeZone = 'UTC', overlap = 'skip', missed = 'once', backlog = 10, priority = 'normal' } = put;
  return { ...put, tenantId, timeZone, overlap, missed, backlog, priority, deadlineMs: put.deadlineMs ?? null };
}

function toReply({ scheduleId }: ScheduleKey, changed: boolean, nextDueAt: Date | null): ValueOf<typeof SchedulePut> {
  return { scheduleId, changed, nextDueAt: nextDueAt === null ? null : nextDueAt.toISOString() };
}

function unknown({ scheduleId }: ScheduleKey): AppError {
  return new AppError('NOT_FOUND', `no schedule "${scheduleId}": \`slate schedule list\` shows the ids`);
}
