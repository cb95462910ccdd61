import { readParams } from '../guard/read-params.ts';
import type { JsonTemplate } from '../http-json/fill-body.ts';
import { namesOf, type Template } from '../mapping/template.ts';
import { checkQuery } from '../sql/sql-adapter.ts';
import type { SourceSettings } from './schema.ts';
import { type ParamSettings, toParams } from './to-params.ts';

type Fault = { readonly path: readonly string[]; readonly what: string };

/** Are the parameters that a source declares the ones it uses, and are their defaults valid? */
export function checkParams(source: SourceSettings): Fault[] {
  return [...checkUse(source), ...('params' in source ? checkDefaults(source.name, source.params) : [])];
}

function checkDefaults(source: string, params: readonly ParamSettings[]): Fault[] {
  return toParams(params).flatMap((param) => {
    if (param.default === undefined) return [];
    try {
      readParams(source, [param], {});
      return [];
    } catch (error) {
      return [{ path: ['params'], what: error instanceof Error ? error.message : `${param.name} has a wrong default` }];
    }
  });
}

function checkUse(source: SourceSettings): Fault[] {
  if (source.kind === 'sql') return checkSql(source);
  if (source.kind === 'http') {
    const used = [...namesOf(source.url), ...(source.body === undefined ? [] : namesIn(source.body))];
    const bodied =
      source.method === 'GET' && source.body !== undefined
        ? [{ path: ['body'], what: 'a GET has none: method: POST' }]
        : [];
    return [...compare(source.params, used, 'url'), ...bodied];
  }
  if (source.kind === 'qdrant') {
    const used = source.filters.flatMap((filter) => ('param' in filter ? [filter.param] : []));
    return compare(source.params, used, 'filters');
  }
  return [];
}

function checkSql({ query, params }: Extract<SourceSettings, { kind: 'sql' }>): Fault[] {
  try {
    checkQuery(query, params);
    return [];
  } catch (error) {
    return [{ path: ['query'], what: error instanceof Error ? error.message : 'is wrong' }];
  }
}

function compare(params: readonly { readonly name: string }[], used: readonly string[], where: string): Fault[] {
  const declared = new Set(params.map(({ name }) => name));
  const undeclared = used
    .filter((name) => !declared.has(name))
    .map((name) => ({ path: [where], what: `uses {${name}}, which params does not declare` }));
  const unused = params
    .filter(({ name }) => !used.includes(name))
    .map(({ name }) => ({ path: ['params'], what: `${name} is used nowhere` }));
  return [...undeclared, ...unused];
}

function namesIn(body: JsonTemplate): string[] {
  if ('template' in body) return namesOf(body.template satisfies Template);
  if ('list' in body) return body.list.flatMap(namesIn);
  return 'map' in body ? body.map.flatMap(([, item]) => namesIn(item)) : [];
}
