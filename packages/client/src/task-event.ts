import {
  type DataOf,
  type Envelope,
  type MessageDefinition,
  StepProgress,
  StepTransitioned,
  SubmitRefused,
  TaskAccepted,
  TaskGateOpened,
  type TaskState,
  TaskTransitioned,
  typeOf,
} from '@cleanslate/contracts';

/** A committed event, told apart by `name`. `other` is a newer or unknown kind: show it, never fail on it. */
export type TaskEvent =
  | { readonly name: 'accepted'; readonly data: TaskAccepted }
  | { readonly name: 'refused'; readonly data: SubmitRefused }
  | { readonly name: 'task'; readonly data: TaskTransitioned }
  | { readonly name: 'step'; readonly stepId: string; readonly attempt: number; readonly data: StepTransitioned }
  | { readonly name: 'gate'; readonly data: TaskGateOpened }
  | { readonly name: 'other'; readonly type: string };

export function toTaskEvent(envelope: Envelope): TaskEvent {
  const accepted = read(TaskAccepted, envelope);
  if (accepted) return { name: 'accepted', data: accepted };
  const refused = read(SubmitRefused, envelope);
  if (refused) return { name: 'refused', data: refused };
  const task = read(TaskTransitioned, envelope);
  if (task) return { name: 'task', data: task };
  const step = read(StepTransitioned, envelope);
  if (step) return { name: 'step', stepId: envelope.stepid ?? '?', attempt: envelope.attempt ?? 0, data: step };
  const gate = read(TaskGateOpened, envelope);
  if (gate) return { name: 'gate', data: gate };
  return { name: 'other', type: envelope.type };
}

export function readProgress(envelope: Envelope): StepProgress | undefined {
  return read(StepProgress, envelope);
}

/** State of the task after this event; undefined if the event does not say. */
export function taskStateAfter(event: TaskEvent): TaskState | undefined {
  if (event.name === 'task') return event.data.to;
  if (event.name === 'accepted') return event.data.state;
  return undefined;
}

export function isTerminal(state: TaskState | undefined): boolean {
  return state === 'completed' || state === 'failed';
}

function read<M extends MessageDefinition>(definition: M, from: Envelope): DataOf<M> | undefined {
  if (from.type !== typeOf(definition)) return undefined;
  const parsed = definition.data.safeParse(from.data);
  return parsed.success ? (parsed.data as DataOf<M>) : undefined;
}
