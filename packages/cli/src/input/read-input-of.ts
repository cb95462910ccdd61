import type { JsonObject } from '@cleanslate/contracts';
import { WORKFLOWS } from '@cleanslate/workflows';
import { inputError } from '../input-error.ts';
import { readSubmitInput } from './read-submit-input.ts';

/** The input from a file, or none if the workflow takes none. */
export async function readInputOf(workflow: string, file: string | undefined): Promise<JsonObject> {
  return file === undefined ? emptyInput(workflow) : await readSubmitInput(file);
}

/** The input of a workflow that takes none. The scheduler judges workflows that aren't built in. */
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
