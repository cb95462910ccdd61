import type { JsonObject } from '@cleanslate/contracts';
import { WORKFLOWS } from '@cleanslate/workflows';
import { inputError } from '../input-error.ts';
import { readSubmitInput } from './read-submit-input.ts';

/** The input that a file gives, or none where the workflow takes none. */
export async function readInputOf(workflow: string, file: string | undefined): Promise<JsonObject> {
  return file === undefined ? emptyInput(workflow) : await readSubmitInput(file);
}

/** What a workflow gets that takes nothing. One that isn't built in is judged by the scheduler. */
function emptyInput(workflow: string): JsonObject {
  const known = WORKFLOWS.find((each) => each.name === workflow);
  const required = known?.plan.inputSchema['required'];
  if (!Array.isArray(required) || required.length === 0) return {};
  throw inputError({
    what: `${workflow} needs an input`,
    where: '--input',
    remedy:
      workflow === 'question-answering'
        ? 'slate ask "…" asks a question; or name a JSON object (.json): { "question": "…" }'
        : 'name a text file (.txt, .md), a JSON object (.json), or - for stdin',
  });
}
