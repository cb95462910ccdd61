import type { SourceParams } from '@cleanslate/domain';
import { fillTemplate, type Template } from '../mapping/template.ts';

/** A JSON body whose texts may contain `{param}`. */
export type JsonTemplate =
  | { readonly template: Template }
  | { readonly list: readonly JsonTemplate[] }
  | { readonly map: readonly (readonly [string, JsonTemplate])[] }
  | { readonly value: null };

/** A text that is exactly one `{param}` keeps the value's type. A key without a value is left out. */
export function fillBody(body: JsonTemplate, params: SourceParams): unknown {
  if ('value' in body) return body.value;
  if ('list' in body) return body.list.map((item) => fillBody(item, params)).filter((item) => item !== undefined);
  if ('map' in body) return Object.fromEntries(body.map.map(([key, item]) => [key, fillBody(item, params)]));
  const [only, ...more] = body.template.parts;
  if (only !== undefined && typeof only !== 'string' && more.length === 0) return params[only.name];
  return fillTemplate(body.template, params) ?? '';
}
