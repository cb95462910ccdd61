import { type Served, serveEndpoint } from '@cleanslate/bus';
import {
  AppError,
  TaskApprove,
  TaskEdit,
  TaskFork,
  TaskReject,
  TaskRetry,
  taskIdFromKey,
  type ValueOf,
} from '@cleanslate/contracts';
import type { Aggregate, LedgerInput } from '@cleanslate/domain/ledger';
import type { ControlItem, ForkItem } from '../ledger/items.ts';
import { SOURCE } from '../source.ts';
import type { HandlerContext } from './context.ts';

/** Beside its copy in the gate, an edited result travels in one event. */
const MAX_EDIT_BYTES = 256 * 1024;

type Control = Omit<ControlItem, 'kind' | 'tenantId'>;
type GateInput = Extract<LedgerInput, { kind: 'gate' }>;

/**
 * What a person decides about a task: at its gate, to run it again, or to run it otherwise. Answered after
 * commit, once per request id.
 */
export function serveTaskControls({ bus, ledger }: HandlerContext): readonly Served[] {
  const apply = async (tenantId: string, item: Control | Omit<ForkItem, 'tenantId'>): Promise<Aggregate> => {
    const known = 'kind' in item ? { ...item, tenantId } : { ...item, tenantId, kind: 'control' as const };
    const { state, refused } = await ledger.apply(known);
    if (refused !== null) throw AppError.fromBody(refused);
    if (state === undefined) throw new AppError('NOT_FOUND', `task "${item.taskId}" is not known`);
    return state;
  };
  const decide = async (tenantId: string, requestId: string, taskId: string, input: GateInput) =>
    toAnswer(await apply(tenantId, { taskId, requestId, input }));
  return [
    serveEndpoint(bus, TaskApprove, SOURCE, ({ tenantId, data: { taskId, sha256 }, envelope }) =>
      decide(tenantId, envelope.id, taskId, { kind: 'gate', action: 'approve', sha256 }),
    ),
    serveEndpoint(bus, TaskReject, SOURCE, ({ tenantId, data: { taskId, sha256, reason }, envelope }) =>
      decide(tenantId, envelope.id, taskId, {
        kind: 'gate',
        action: 'reject',
        sha256,
        reason: reason ?? 'no reason given',
      }),
    ),
    serveEndpoint(bus, TaskEdit, SOURCE, ({ tenantId, data: { taskId, sha256, result }, envelope }) => {
      const bytes = Buffer.byteLength(JSON.stringify(result));
      if (bytes > MAX_EDIT_BYTES)
        throw new AppError('PAYLOAD_TOO_LARGE', `the result has ${bytes} bytes; at most ${MAX_EDIT_BYTES} are taken`);
      return decide(tenantId, envelope.id, taskId, { kind: 'gate', action: 'edit', sha256, result });
    }),
    serveEndpoint(bus, TaskRetry, SOURCE, async ({ tenantId, data: { taskId, deadlineMs }, envelope }) => {
      const again = deadlineMs === undefined ? {} : { deadlineMs };
      const input = { kind: 'retry' as const, letter: null, ...again };
      const { task } = await apply(tenantId, { taskId, requestId: envelope.id, input });
      return { taskId, state: task.state, deadline: new Date(task.deadline).toISOString() };
    }),
    serveEndpoint(bus, TaskFork, SOURCE, async ({ tenantId, data, envelope }) => {
      const { at, deadlineMs, ...rest } = data;
      if (data.validAt !== undefined && Number.isNaN(Date.parse(data.validAt)))
        throw new AppError('INVALID_INPUT', 'validAt is not a date that exists');
      const newTaskId = taskIdFromKey(tenantId, `fork ${envelope.id}`);
      const chosen = { at: at ?? null, deadlineMs: deadlineMs ?? null };
      const item = { kind: 'fork' as const, requestId: envelope.id, newTaskId, ...rest, ...chosen };
      const { task } = await apply(tenantId, item);
      const deadline = new Date(task.deadline).toISOString();
      return { taskId: newTaskId, forkedFrom: data.taskId, state: task.state, pin: task.pin, deadline };
    }),
  ];
}

/** The same for a repeated request, also when the task has moved on since. */
function toAnswer({ task }: Aggregate): ValueOf<typeof TaskApprove> {
  const { gate } = task;
  if (gate?.decision == null || gate.by === null)
    throw new AppError('ILLEGAL_TRANSITION', 'the gate of that request is no longer kept: another one has opened');
  return { taskId: task.taskId, state: task.state, decision: gate.decision, by: gate.by };
}
