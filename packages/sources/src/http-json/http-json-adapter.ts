import { AppError } from '@cleanslate/contracts';
import type { SourceParams } from '@cleanslate/domain';
import type { FindContext, Hit, SourceAdapter } from '../adapter.ts';
import type { DeclaredParam } from '../guard/read-params.ts';
import { checkStatus } from '../http/check-status.ts';
import { createGuardedFetch, type FetchOptions, type GuardedFetch } from '../http/guarded-fetch.ts';
import { readPointer } from '../mapping/json-pointer.ts';
import { readJson } from '../mapping/read-json.ts';
import { type RecordMapping, scoreOfPlace, toHit } from '../mapping/record-to-hit.ts';
import type { Template } from '../mapping/template.ts';
import { sourceError } from '../source-error.ts';
import { fillBody, type JsonTemplate } from './fill-body.ts';
import { fillUrl } from './fill-url.ts';

export type HttpJsonOptions = FetchOptions & {
  /** Scheme and host are fixed; path and query may contain `{param}`. */
  readonly url: Template;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Readonly<Record<string, string>>;
  /** For POST: values of `{param}` are filled in as JSON strings. */
  readonly body: JsonTemplate | undefined;
  readonly params: readonly DeclaredParam[];
  /** JSON pointer to the list of items, or to a single one. */
  readonly items: string;
  readonly mapping: RecordMapping;
  /** 404 says "there is none" here, not "no such endpoint". */
  readonly emptyOn404: boolean;
};

/** An HTTP endpoint that answers JSON, asked as the configuration declares it. */
export function httpJsonAdapter(options: HttpJsonOptions): SourceAdapter {
  const guarded = createGuardedFetch(options);
  const { source, method, headers, credentials } = options;
  const find = async (params: SourceParams, { limit, signal }: FindContext): Promise<Hit[]> => {
    const url = fillUrl(options.url, params);
    if (url === undefined)
      throw new AppError(
        'INVALID_INPUT',
        `source "${source}", params: a value is a step of the path (".."), not a name in it`,
      );
    const body = options.body === undefined ? {} : { body: JSON.stringify(fillBody(options.body, params)) };
    const answer = await guarded.fetch(url, {
      method,
      credentials,
      signal,
      headers: {
        accept: 'application/json',
        ...('body' in body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...body,
    });
    if (answer.status === 404 && options.emptyOn404) return [];
    checkStatus(source, answer);
    return toHits(options, readJson(source, answer.body), limit);
  };
  return {
    kind: 'http',
    freshness: 'live',
    params: options.params,
    find,
    check: (signal) => check(guarded, options, find, signal),
    [Symbol.asyncDispose]: () => guarded[Symbol.asyncDispose](),
  };
}

/** It can't be asked without values for its parameters; then it is enough that its host speaks HTTP. */
async function check(
  guarded: GuardedFetch,
  { url, params }: HttpJsonOptions,
  find: (params: SourceParams, context: FindContext) => Promise<Hit[]>,
  signal: AbortSignal,
): Promise<string> {
  const needed = params.filter((param) => param.required && param.default === undefined).map(({ name }) => name);
  if (needed.length > 0) {
    await guarded.fetch(new URL('/', url.text), { signal });
    return `its host answers; to see more, ask it with ${needed.join(', ')}`;
  }
  const values = Object.fromEntries(
    params.flatMap((param) => (param.default === undefined ? [] : [[param.name, param.default]])),
  );
  const hits = await find(values, { tenantId: 'check', limit: 1, pin: undefined, clearance: 'restricted', signal });
  return hits.length === 0 ? 'answers, with no items' : 'answers, with items that fit the mapping';
}

function toHits({ source, items, mapping }: HttpJsonOptions, json: unknown, limit: number): Hit[] {
  const found = readPointer(json, items);
  if (found === undefined)
    throw sourceError('SOURCE_BAD_ANSWER', source, `holds nothing at items "${items}": check the pointer`);
  if (found === null) return [];
  const list: readonly unknown[] = Array.isArray(found) ? found : [found];
  return list.slice(0, limit).flatMap((item, index) => toHit(source, mapping, item, scoreOfPlace(index)) ?? []);
}
