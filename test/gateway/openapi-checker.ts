import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Operation = { readonly operationId: string; readonly responses: Readonly<Record<string, unknown>> };
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

/** Calls a gateway as its own document says, and holds every answer against that document. */
export class OpenApiChecker {
  readonly #document: Document;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #ajv = new Ajv2020.default({ strict: false, allErrors: true });
  /** Operations that were answered well at least once. */
  readonly exercised = new Set<string>();

  constructor(document: object, url: string, headers: Readonly<Record<string, string>>) {
    this.#document = document as Document;
    this.#url = url;
    this.#headers = headers;
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(document, 'openapi');
  }

  get operations(): string[] {
    return Object.values(this.#document.paths).flatMap((path) => Object.values(path).map((each) => each.operationId));
  }

  /** Asks, by the operation's id; throws where the status or the answer is none that the document names. */
  async call(
    id: string,
    given: Given = {},
  ): Promise<{ readonly status: number; readonly body: Record<string, never> }> {
    const [path, method, operation] = this.#find(id);
    const { params = {}, query = {}, body, headers = {} } = given;
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? `missing-${name}`),
    );
    const search = new URLSearchParams(query).toString();
    const response = await fetch(`${this.#url}${filled}${search === '' ? '' : `?${search}`}`, {
      method: method.toUpperCase(),
      headers: { ...this.#headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body?.cancel();
      this.exercised.add(id);
      return { status: response.status, body: {} };
    }
    const text = await response.text();
    const answer = text === '' ? undefined : JSON.parse(text);
    this.#check(operation, path, method, response, answer);
    if (response.ok) this.exercised.add(id);
    return { status: response.status, body: answer };
  }

  #check(operation: Operation, path: string, method: string, response: Response, answer: unknown): void {
    const status = String(response.status);
    const known = Object.hasOwn(operation.responses, status) ? status : 'default';
    const kind = response.ok ? 'application/json' : 'application/problem+json';
    if (!response.headers.get('content-type')?.startsWith(kind))
      throw new Error(`${operation.operationId}: ${status} is no ${kind}`);
    const escaped = (text: string) => text.replaceAll('~', '~0').replaceAll('/', '~1');
    const at =
      known === 'default' ? '#/components/responses/Problem' : `#/paths/${escaped(path)}/${method}/responses/${known}`;
    if (known === 'default' && response.ok)
      throw new Error(`${operation.operationId} answered ${status}, which the document does not name`);
    const validate = this.#ajv.compile({ $ref: `openapi${at}/content/${escaped(kind)}/schema` });
    if (validate(answer)) return;
    throw new Error(
      `${operation.operationId} ${status}: ${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(answer).slice(0, 600)}`,
    );
  }

  #find(id: string): [path: string, method: string, Operation] {
    for (const [path, methods] of Object.entries(this.#document.paths))
      for (const [method, operation] of Object.entries(methods))
        if (operation.operationId === id) return [path, method, operation];
    throw new Error(`the document has no operation ${id}`);
  }
}

export type Given = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};
