import { AppError, DocumentRef, Pin, Verdict, VerdictReason } from '@cleanslate/contracts';
import { z } from 'zod';
import type { StepDefinition, WorkflowDefinition } from './define-workflow.ts';
import { findMisfit, type JsonSchema, schemaAt } from './fits-schema.ts';

/**
 * Checks every mapping to an executor that was passed as an object (not by name): what the path leads to must fit the
 * field, and what the validation step puts out must be a verdict. Throws `CONTRACT_MISMATCH` naming step, field and
 * both shapes. The type checker reports most of it earlier; this also covers JavaScript.
 */
export function checkContracts(definition: WorkflowDefinition): void {
  const faults: string[] = [];
  for (const [key, step] of Object.entries(definition.steps)) {
    faults.push(...checkUse(definition, `step "${key}"`, step, step));
    if (step.compensate) faults.push(...checkUse(definition, `compensation of step "${key}"`, step.compensate, step));
  }
  faults.push(...checkVerdict(definition));
  if (faults.length === 0) return;
  throw new AppError('CONTRACT_MISMATCH', `workflow ${definition.name}: ${faults.join('; ')}`, { details: { faults } });
}

type Use = Pick<StepDefinition, 'executor' | 'input'>;

function checkUse(definition: WorkflowDefinition, where: string, use: Use, reader: StepDefinition): string[] {
  const { executor, input } = use;
  if (typeof executor === 'string') return [];
  const target = executor.contract.input as JsonSchema;
  const faults: string[] = [];
  for (const field of (target['required'] as readonly string[] | undefined) ?? []) {
    if (input[field] === undefined) faults.push(`${where} gives ${executor.name} no "${field}"`);
  }
  for (const [field, mapping] of Object.entries(input)) {
    const wanted = schemaAt(target, [field]);
    if (wanted === undefined) faults.push(`${where}: ${executor.name} takes no "${field}"`);
    else if (typeof mapping === 'string') {
      const fault = checkPath(definition, mapping, { schema: wanted.schema, root: target }, reader);
      if (fault !== undefined) faults.push(`${where}, field "${field}" of ${executor.name}: ${fault}`);
    }
  }
  return faults;
}

/** The machine reads verdicts by this shape. Otherwise each task would find out, by three attempts of its validator. */
function checkVerdict({ validation, steps }: WorkflowDefinition): string[] {
  const executor = validation === undefined ? undefined : steps[validation.step]?.executor;
  if (executor === undefined || typeof executor === 'string') return [];
  const output = executor.contract.output as JsonSchema;
  // With keys that the schema does not name it may be anything.
  if (typeof output['additionalProperties'] === 'object') return [];
  const misfit = findMisfit(output, VERDICT, { source: output, target: VERDICT });
  if (misfit === undefined) return [];
  return [`validation step "${validation?.step}": what ${executor.name} puts out is no Verdict: ${misfit}`];
}

function checkPath(
  definition: WorkflowDefinition,
  path: string,
  target: { readonly schema: JsonSchema; readonly root: JsonSchema },
  reader: StepDefinition,
): string | undefined {
  const source = findSource(definition, path, reader);
  if (source === undefined) return undefined;
  const found = schemaAt(source.root, source.path);
  if (found === undefined) return `${path} is not there: ${source.what} has no "${source.path.join('.')}"`;
  const schema = found.nullable || source.nullable ? { anyOf: [found.schema, { type: 'null' }] } : found.schema;
  const misfit = findMisfit(schema, target.schema, { source: source.root, target: target.root });
  return misfit === undefined ? undefined : `${path} does not fit: ${misfit}`;
}

type Source = {
  readonly what: string;
  readonly root: JsonSchema;
  readonly path: readonly string[];
  readonly nullable: boolean;
};

/** Undefined if nothing is known about it: a step by name, a path that the plan's own check refuses. */
function findSource(definition: WorkflowDefinition, path: string, reader: StepDefinition): Source | undefined {
  const [root = '', key = '', , ...rest] = path.split('.');
  const whole = path.split('.').slice(1);
  if (root === 'input') return { what: 'the input', root: inputSchemaOf(definition), path: whole, nullable: false };
  if (root === 'pin') return { what: 'the pin', root: PIN, path: whole, nullable: false };
  if (root === 'feedback') return { what: 'the feedback', root: FEEDBACK, path: whole, nullable: true };
  const step = root === 'steps' ? definition.steps[key] : undefined;
  if (step === undefined || typeof step.executor === 'string') return undefined;
  // A skipped or failed predecessor has no output: its reader sees null.
  const nullable = step.when !== undefined || (reader.join !== undefined && reader.join !== 'all');
  return { what: step.executor.name, root: step.executor.contract.output as JsonSchema, path: rest, nullable };
}

const PIN = z.toJSONSchema(Pin) as JsonSchema;
const VERDICT = z.toJSONSchema(Verdict, { io: 'input' }) as JsonSchema;
const FEEDBACK = z.toJSONSchema(z.array(VerdictReason).nullable()) as JsonSchema;

/** As the steps see it: a document's text has become a reference. */
function inputSchemaOf({ input, documents = [] }: WorkflowDefinition): JsonSchema {
  const shape = { ...input.shape };
  for (const field of documents) if (shape[field] !== undefined) shape[field] = DocumentRef;
  return z.toJSONSchema(z.strictObject(shape), { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}
