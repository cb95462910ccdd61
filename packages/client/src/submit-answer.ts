import { AppError, decodeMessage, INVALID_TASK_ID, SubmitRefused, subjects, TaskAccepted } from '@cleanslate/contracts';
import { Wakeup } from './wakeup.ts';

export type Answer = { readonly taskId: string; readonly accepted: TaskAccepted } | { readonly refused: AppError };

/**
 * Where the answer arrives. A known key is answered under the id of its task, which may have been submitted under an id
 * of its own.
 */
export function answerSubjects(tenantId: string, taskId: string, key: string | undefined): string[] {
  if (key !== undefined) return [`evt.task.${tenantId}.*`];
  return [subjects.taskEvent(tenantId, taskId), subjects.taskEvent(tenantId, INVALID_TASK_ID)];
}

/** The first event that answers one of our messages, by its causation id. */
export class AnswerBox {
  readonly #ids: ReadonlySet<string>;
  readonly #wakeup = new Wakeup();
  #answer: Answer | undefined;

  constructor(ids: ReadonlySet<string>) {
    this.#ids = ids;
  }

  take(bytes: Uint8Array): void {
    const answer = readAnswer(bytes, this.#ids);
    if (answer === undefined) return;
    this.#answer ??= answer;
    this.#wakeup.wake();
  }

  async wait(ms: number, signal: AbortSignal | undefined): Promise<Answer | undefined> {
    if (this.#answer === undefined && ms > 0 && !signal?.aborted) await this.#wakeup.pause(ms, signal);
    return this.#answer;
  }
}

/** Undefined for other events on this subject. Most of them are recognised without being parsed. */
function readAnswer(bytes: Uint8Array, ids: ReadonlySet<string>): Answer | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (![...ids].some((id) => text.includes(id))) return undefined;
  try {
    const { envelope } = decodeMessage([TaskAccepted, SubmitRefused], bytes);
    if (envelope.causationid === undefined || !ids.has(envelope.causationid)) return undefined;
    if ('error' in envelope.data) return { refused: AppError.fromBody(envelope.data.error) };
    return { taskId: envelope.taskid ?? INVALID_TASK_ID, accepted: envelope.data };
  } catch {
    return undefined;
  }
}
