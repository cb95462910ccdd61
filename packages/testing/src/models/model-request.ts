import type { ServerResponse } from 'node:http';

export type ModelRequestSeen = {
  readonly path: string;
  /** `performance.now()` of its arrival. */
  readonly at: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly messages: readonly ModelMessageSeen[];
  /** All of it, to look for what must not be there. */
  readonly text: string;
};
export type ModelMessageSeen = { readonly role: string; readonly content: unknown } & Readonly<Record<string, unknown>>;

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
