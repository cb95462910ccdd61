import { AppError } from '@cleanslate/contracts';
import type { AuthSettings } from './schema.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The value of a variable that the file names. Throws `CONFIGURATION` with the variable, never with a value. */
export function readVariable(env: Env, source: string, variable: string): string {
  const value = env[variable]?.trim();
  if (value !== undefined && value !== '') return value;
  throw new AppError(
    'CONFIGURATION',
    `source "${source}" needs the variable ${variable}, which is not set: set it from a secret`,
  );
}

/** The authentication headers. */
export function toCredentials(env: Env, source: string, auth: AuthSettings | undefined): Record<string, string> {
  if (auth === undefined) return {};
  const variable = auth.type === 'bearer' ? auth.tokenFrom : auth.type === 'basic' ? auth.passwordFrom : auth.valueFrom;
  const value = readVariable(env, source, variable);
  if (/[^\t\x20-\x7e]/.test(value))
    throw new AppError(
      'CONFIGURATION',
      `source "${source}": ${variable} holds a character that no header can carry: check for a line break`,
    );
  if (auth.type === 'bearer') return { authorization: `Bearer ${value}` };
  if (auth.type === 'header') return { [auth.name.toLowerCase()]: value };
  return { authorization: `Basic ${Buffer.from(`${auth.user}:${value}`).toString('base64')}` };
}
