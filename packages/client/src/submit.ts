import {
  AppError,
  encodeMessage,
  isAppError,
  type JsonObject,
  mismatch,
  type Pin,
  type Priority,
  subjects,
  TaskGet,
  TaskId,
  type TaskState,
  TaskSubmit,
  type TaskView,
  taskIdFromKey,
} from '@cleanslate/contracts';
import { type Answer, AnswerBox, answerSubjects } from './submit-answer.ts';
import { ask, type Wire } from './wire.ts';

export type SubmitRequest = {
  readonly workflow: string;
  readonly input: JsonObject;
  /** Idempotency key: the same key is the same task. */
  readonly key?: string | undefined;
  /** Default: UUIDv5 of tenant and key, or a random id if there is no key. */
  readonly taskId?: string | undefined;
  /** From acceptance. Default 1 h. */
  readonly deadlineMs?: number | undefined;
  readonly priority?: Priority | undefined;
  readonly validAt?: string | undefined;
  readonly revision?: number | undefined;
};

export type SubmitOptions = {
  /**
   * Without an answer by then: `REQUEST_TIMEOUT`, or `BROKER_UNAVAILABLE` if there is no broker. Milliseconds, default
   * 60 s: as long as `result` waits through an outage.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Silence after which the task is queried and the submit repeated; doubles each time, up to 15 s. Milliseconds,
   * default 2 s.
   */
  readonly answerMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** W3C trace context of the caller: everything the task causes continues that trace. */
  readonly traceparent?: string | undefined;
};

/** The task is committed in the ledger. */
export type Submitted = {
  readonly taskId: string;
  readonly workflow: string;
  readonly state: TaskState;
  /** The key or task id was known already. */
  readonly duplicate: boolean;
  readonly pin: Pin;
  readonly deadline: string;
};

/**
 * Submits a task and waits until the ledger has accepted it. Each message has its own id and is answered by one event;
 * repeated after silence or an outage, it is still one task, by its key and id. Throws the reason of a refusal,
 * `TENANT_QUEUE_FULL`, `SCHEMA_MISMATCH` (nothing was sent), `REQUEST_TIMEOUT` or `BROKER_UNAVAILABLE` (it may still be
 * accepted: submit again with the same key, or look for the task by its id).
 */
export async function submitTask(wire: Wire, request: SubmitRequest, options: SubmitOptions = {}): Promise<Submitted> {
  const data = parseSubmit(request);
  const taskId =
    parseTaskId(request.taskId) ?? (data.key ? taskIdFromKey(wire.tenantId, data.key) : crypto.randomUUID());
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const giveUpAt = performance.now() + timeoutMs;
  const ids = new Set<string>();
  const answers = new AnswerBox(ids);
  const subscriptions = answerSubjects(wire.tenantId, taskId, data.key).map((subject) =>
    wire.bus.subscribe(subject, (message) => answers.take(message.data)),
  );
  try {
    // During an outage the client library subscribes before it sends, as soon as it is connected again.
    await wire.bus.flush(Math.min(5_000, timeoutMs)).catch(() => undefined);
    let known: TaskView | undefined;
    while (performance.now() < giveUpAt) {
      options.signal?.throwIfAborted();
      await say(wire, taskId, data, ids, giveUpAt, options).catch((error: unknown) => {
        // It is in the queue already: do not fill a queue that nobody drains with copies of it.
        if (ids.size > 1 && isAppError(error) && error.code === 'TENANT_QUEUE_FULL') return;
        throw explain(error, taskId, data.key);
      });
      const silenceMs = Math.min(MAX_ANSWER_MS, (options.answerMs ?? 2_000) * 2 ** (ids.size - 1));
      const waitMs = Math.min(silenceMs, giveUpAt - performance.now());
      const answer = await answers.wait(waitMs, options.signal);
      if (answer) return toSubmitted(answer);
      known = await findTask(wire, taskId);
      // A random id can only be this submit's. A key may be an older task's, so its answer must still say whether it is
      // the same task.
      if (known && request.taskId === undefined && data.key === undefined) return fromView(known, false);
    }
    if (known) return fromView(known, true);
    const text = `the submit is stored, but no scheduler accepted it in time (task ${taskId})`;
    throw new AppError('REQUEST_TIMEOUT', `${text}: run \`slate doctor\`, then ${nextOf(taskId, data.key)}`, {
      details: { taskId },
    });
  } finally {
    for (const subscription of subscriptions) subscription.unsubscribe();
  }
}

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_MS = 15_000;

/** Without a key another submit would be another task. */
function nextOf(taskId: string, key: string | undefined): string {
  return key === undefined ? `\`slate task show ${taskId}\`` : 'submit again with the same key';
}

/** Nobody knows whether it was stored: the error must say how to find out. */
function explain(error: unknown, taskId: string, key: string | undefined): unknown {
  if (!isAppError(error) || error.code !== 'BROKER_UNAVAILABLE') return error;
  const text = `${error.message}. It may yet be accepted (task ${taskId}): \`slate doctor\` tells what the broker lacks; when the broker is back, ${nextOf(taskId, key)}`;
  return new AppError('BROKER_UNAVAILABLE', text, { cause: error, details: { taskId } });
}

async function say(
  wire: Wire,
  taskId: string,
  data: TaskSubmit,
  ids: Set<string>,
  giveUpAt: number,
  { signal, traceparent }: SubmitOptions,
): Promise<void> {
  const id = crypto.randomUUID();
  ids.add(id);
  const attributes = {
    id,
    source: wire.source,
    time: new Date().toISOString(),
    tenantid: wire.tenantId,
    taskid: taskId,
  };
  await wire.publisher.publish(
    {
      stream: 'INTAKE',
      subject: subjects.submit(wire.tenantId),
      body: encodeMessage(TaskSubmit, attributes, data),
      messageId: id,
      ...(traceparent === undefined ? {} : { headers: { traceparent } }),
    },
    { giveUpAfterMs: Math.max(1, giveUpAt - performance.now()), ...(signal ? { signal } : {}) },
  );
}

function toSubmitted(answer: Answer): Submitted {
  if ('refused' in answer) throw answer.refused;
  const { workflow, state, duplicate, pin, deadline } = answer.accepted;
  return { taskId: answer.taskId, workflow, state, duplicate, pin, deadline };
}

function fromView(view: TaskView, duplicate: boolean): Submitted {
  const { taskId, workflow, state, pin, deadline } = view;
  return { taskId, workflow, state, duplicate, pin, deadline };
}

async function findTask(wire: Wire, taskId: string): Promise<TaskView | undefined> {
  try {
    return await ask(wire, TaskGet, { taskId });
  } catch (error) {
    // Not there, or nobody can tell: repeat the submit either way.
    if (isAppError(error)) return undefined;
    throw error;
  }
}

function parseSubmit(request: SubmitRequest): TaskSubmit {
  const { taskId: _, ...data } = request;
  const present = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
  const parsed = TaskSubmit.data.safeParse(present);
  if (!parsed.success) throw mismatch('submit', parsed.error, present);
  return parsed.data;
}

function parseTaskId(taskId: string | undefined): string | undefined {
  if (taskId === undefined) return undefined;
  const parsed = TaskId.safeParse(taskId);
  if (!parsed.success) throw mismatch('taskId', parsed.error);
  return parsed.data;
}
