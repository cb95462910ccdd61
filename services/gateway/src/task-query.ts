import { AppError, ObjectRef, parseJson, type TaskView } from '@cleanslate/contracts';
import { findObject, findTaskView, type Tx } from '@cleanslate/store';

/** Larger results stay a reference: the answer must fit into one message with room for the rest. */
const MAX_INLINED_BYTES = 6 * 1024 * 1024;

/** A task with its steps; a result kept as an object is loaded into it. Throws `NOT_FOUND`. */
export async function findTask(tx: Tx, taskId: string): Promise<TaskView> {
  const task = await findTaskView(tx, taskId);
  if (task === undefined) throw new AppError('NOT_FOUND', `no task ${taskId}: \`slate task list\` shows the ids`);
  const ref = ObjectRef.safeParse(task.result);
  if (!ref.success || ref.data.bytes > MAX_INLINED_BYTES) return task;
  const bytes = await findObject(tx, ref.data.$object);
  return bytes === undefined ? task : { ...task, result: parseJson(bytes, 'stored result') };
}
