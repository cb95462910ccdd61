import { hash } from 'node:crypto';
import {
  AppError,
  canonicalJson,
  DocumentInput,
  type DocumentRef,
  decodeMessage,
  type Envelope,
  findOwnText,
  INVALID_TASK_ID,
  type JsonObject,
  MAX_INLINE_BYTES,
  mismatch,
  TaskId,
  TaskSubmit,
  taskIdFromKey,
} from '@cleanslate/contracts';
import { keyOf, type StoredObject, toObject } from '@cleanslate/store/ledger';
import type { z } from 'zod';
import type { SubmitItem } from './items.ts';
import type { KnownWorkflow, WorkflowRegistry } from './workflow-registry.ts';

export type RawSubmit = { readonly tenantId: string; readonly body: Uint8Array; readonly traceparent: string | null };

/**
 * Bytes of a submit → an item for the ledger. Throws `AppError` naming the field and the remedy; `describeSubmit`
 * says what could be read of it.
 */
export function readSubmit(raw: RawSubmit, registry: WorkflowRegistry): SubmitItem {
  const { envelope } = decodeMessage([TaskSubmit], raw.body);
  if (envelope.tenantid !== raw.tenantId) {
    throw new AppError(
      'TENANT_MISMATCH',
      `tenantid "${envelope.tenantid}" is not the tenant of the subject, "${raw.tenantId}"`,
    );
  }
  const workflow = registry.find(envelope.data.workflow);
  if (workflow === undefined) {
    throw new AppError(
      'UNKNOWN_WORKFLOW',
      `workflow "${envelope.data.workflow}" is not known: use one of ${registry.names().join(', ')}, or start a worker that brings it (each registers its workflows when it starts)`,
    );
  }
  if (envelope.data.validAt !== undefined && Number.isNaN(Date.parse(envelope.data.validAt)))
    throw new AppError('INVALID_INPUT', 'data.validAt is not a date that exists');
  const { input, objects } = readInput(raw.tenantId, workflow, envelope.data.input);
  // Another pin is another question: the same key must not answer it with the old task.
  const { validAt, revision } = envelope.data;
  const { tenantId } = raw;
  const taskId = taskIdOf(envelope);
  return {
    kind: 'submit',
    tenantId,
    taskId,
    taskKey: keyOf({ tenantId, taskId }),
    submitId: envelope.id,
    bodyHash: hash('sha256', canonicalJson({ workflow: workflow.name, input, validAt, revision })),
    planHash: workflow.planHash,
    plan: workflow.plan,
    submit: { ...envelope.data, input },
    objects,
    traceparent: raw.traceparent,
  };
}

/**
 * Checks documents first (their faults have better words than a JSON Schema), then the whole input. Each document
 * becomes an object of the ledger and a reference by its hash.
 */
function readInput(
  tenantId: string,
  workflow: KnownWorkflow,
  input: JsonObject,
): { input: JsonObject; objects: StoredObject[] } {
  const objects: StoredObject[] = [];
  const stored: JsonObject = { ...input };
  for (const field of workflow.plan.documents) {
    if (stored[field] === undefined) continue;
    const document = DocumentInput.safeParse(stored[field]);
    if (!document.success) throw invalid(`input.${field}`, document.error, stored[field]);
    const object = toObject(tenantId, Buffer.from(document.data.text, 'utf8'));
    objects.push(object);
    const { name, mediaType } = document.data;
    stored[field] = { name, mediaType, sha256: object.sha256, bytes: object.bytes.length } satisfies DocumentRef;
  }
  const checked = workflow.input.safeParse(input);
  if (!checked.success) throw invalid('input', checked.error, input);
  const size = Buffer.byteLength(JSON.stringify(stored));
  if (size > MAX_INLINE_BYTES) {
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `input has ${size} bytes beside its documents; at most ${MAX_INLINE_BYTES} are taken: send long text as a document`,
    );
  }
  return { input: stored, objects };
}

function invalid(what: string, error: z.ZodError, value: unknown): AppError {
  const { message, details } = mismatch(what, error, value);
  return new AppError('INVALID_INPUT', message, details === undefined ? {} : { details });
}

/**
 * The client's choice, else what follows from the key, else from this very message: a
 * redelivery must name the same task.
 */
function taskIdOf(envelope: Envelope<TaskSubmit>): string {
  if (envelope.taskid === INVALID_TASK_ID)
    throw new AppError('INVALID_INPUT', `taskid "${INVALID_TASK_ID}" is reserved: choose another`);
  return envelope.taskid ?? taskIdFromKey(envelope.tenantid, envelope.data.key ?? `submit ${envelope.id}`);
}

/** What can still be read of a submit that was refused, so that its sender finds the answer. */
export function describeSubmit(body: Uint8Array): { submitId: string | null; taskId: string } {
  const text = new TextDecoder().decode(body);
  const taskId = TaskId.safeParse(findOwnText(text, 'taskid'));
  return { submitId: findOwnText(text, 'id') ?? null, taskId: taskId.success ? taskId.data : INVALID_TASK_ID };
}
