import { encodeMessage, TaskSubmit, taskIdFromKey, toAppError } from '@cleanslate/contracts';
import { decideSchedule } from '@cleanslate/domain/ledger';
import {
  type DueSchedule,
  type ScheduleSettings,
  saveDecision,
  saveScheduleFault,
  type Tx,
  takeDueSchedules,
} from '@cleanslate/store/ledger';
import { SOURCE } from '../source.ts';
import type { LedgerItem, SubmitItem } from './items.ts';
import { readSubmit } from './read-submit.ts';
import type { WorkflowRegistry } from './workflow-registry.ts';

/** Schedules decided by one transaction, at most. */
const LIMIT = 50;

/**
 * Decides due schedules and gives the submits (and cancels of what they replace) that follow, for the same transaction:
 * whoever crashes or comes twice, a due time is decided once. The task's id follows from schedule and due time, so even
 * a schedule put anew can't run one twice.
 */
export async function fireSchedules(tx: Tx, registry: WorkflowRegistry): Promise<readonly LedgerItem[]> {
  const items: LedgerItem[] = [];
  for (const schedule of await takeDueSchedules(tx, LIMIT)) {
    const decision = decideSchedule(schedule, schedule.now);
    const run = decision.start === null ? null : readRun(schedule, decision.start, registry);
    if (run !== null && 'fault' in run) {
      await saveScheduleFault(tx, schedule, run.fault);
      continue;
    }
    await saveDecision(tx, schedule, decision, run?.taskId ?? null);
    // A due time decided a second time means the same task: it must not end itself.
    if (decision.replace && schedule.lastTaskId !== null && schedule.lastTaskId !== run?.taskId)
      items.push(toCancel(schedule, schedule.lastTaskId));
    if (run !== null) items.push(run);
  }
  return items;
}

function readRun(schedule: DueSchedule, dueAt: number, registry: WorkflowRegistry) {
  try {
    return toRun(schedule, dueAt, registry);
  } catch (error) {
    return { fault: toAppError(error, 'INVALID_INPUT').toBody() };
  }
}

/** The submit of one run, checked like any other. Throws `UNKNOWN_WORKFLOW`, `INVALID_INPUT`. */
export function toRun(settings: ScheduleSettings, dueAt: number, registry: WorkflowRegistry): SubmitItem {
  const { tenantId, scheduleId, workflow, input, priority, deadlineMs } = settings;
  const time = new Date(dueAt).toISOString();
  const key = `schedule ${scheduleId} ${time}`;
  const taskid = taskIdFromKey(tenantId, key);
  const body = encodeMessage(
    TaskSubmit,
    { id: `${taskid}.submit`, source: SOURCE, time, tenantid: tenantId, taskid },
    { workflow, input, key, priority, ...(deadlineMs === null ? {} : { deadlineMs }) },
  );
  return readSubmit({ tenantId, body, traceparent: null }, registry);
}

function toCancel({ tenantId, scheduleId }: DueSchedule, taskId: string): LedgerItem {
  const reason = `replaced by the next run of schedule ${scheduleId}`;
  return { kind: 'input', tenantId, taskId, input: { kind: 'cancel', reason } };
}
