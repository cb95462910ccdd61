import { isAppError, toAppError, toErrorText } from '@cleanslate/contracts';
import { z } from 'zod';
import type { Terminal } from './terminal.ts';

const Path = z.union([z.string(), z.array(z.union([z.string(), z.number()])).transform((path) => path.join('.'))]);
const Details = z.object({
  issues: z.array(z.object({ path: Path, message: z.string() })).optional(),
});

/** What was wrong, where, what to do. For machines one JSON document on stdout. */
export function printError(terminal: Terminal, error: unknown, json: boolean): void {
  const body = toAppError(error).toBody();
  if (json) return terminal.out(JSON.stringify({ error: body }));
  const { what, where, remedy } = toErrorText(body);
  const { issues } = Details.safeParse(body.details ?? {}).data ?? {};
  const title = issues === undefined ? what : 'not as the contract asks';
  terminal.note(`${terminal.style('red', 'error')}: ${title}${isAppError(error) ? ` (${body.code})` : ''}`);
  for (const issue of issues ?? []) terminal.note(`  ${terminal.style('bold', issue.path)}: ${issue.message}`);
  if (where !== undefined) terminal.note(`  where: ${where}`);
  if (remedy !== undefined) terminal.note(`  to do: ${remedy}`);
}
