import type { DeclaredParam } from '../guard/read-params.ts';
import type { SettingsOf } from './schema.ts';

export type ParamSettings = SettingsOf<'sql'>['params'][number];

export function toParams(params: readonly ParamSettings[]): DeclaredParam[] {
  return params.map(({ name, type, required, description, maxLength, oneOf, default: given }) => ({
    name,
    type,
    required,
    description,
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(oneOf === undefined ? {} : { oneOf }),
    ...(given === undefined ? {} : { default: toValue(type, given) }),
  }));
}

function toValue(type: ParamSettings['type'], text: string): string | number | boolean {
  if (type === 'integer' || type === 'number') return Number(text);
  return type === 'boolean' ? text === 'true' : text;
}
