export {
  AppError,
  type Cursor,
  type Disposition,
  ERROR_CODES,
  type ErrorCode,
  type FactView,
  isAppError,
  type JsonObject,
  type TaskState,
  type TaskSummary,
  type TaskView,
} from '@cleanslate/contracts';
export { type Client, type ClientOptions, connect, type ForkOptions, type ReplayOptions } from './client.ts';
export { formatCursor, parseCursor } from './cursor.ts';
export type { EventSource, Followed, FollowOptions } from './event-source.ts';
export { followEvents } from './follow-events.ts';
export { type Rerun, type RerunOptions, rerunTasks } from './rerun.ts';
export { type SubmitOptions, type SubmitRequest, type Submitted, submitTask } from './submit.ts';
export { isOverAt } from './task-end.ts';
export { isTerminal, readProgress, type TaskEvent, taskStateAfter, toTaskEvent } from './task-event.ts';
export { tailSubjects, type WatchItem, type WatchOptions, watchTasks } from './watch.ts';
export { ask, change, type Wire } from './wire.ts';
