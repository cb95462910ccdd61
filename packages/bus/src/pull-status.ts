import type { Msg } from '@nats-io/nats-core';

/** What a message without a body on a pull inbox says about the pull requests that wait at the server. */
export type PullStatus =
  | { readonly kind: 'heartbeat' }
  /** One request is over; `left` of its messages were not delivered (undefined: the server didn't say). */
  | { readonly kind: 'ended'; readonly left: number | undefined }
  /** One request was refused: too many wait, or a limit of the consumer is reached. */
  | { readonly kind: 'refused'; readonly problem: string }
  /** All requests are gone: consumer or stream deleted, leader moved, server going down, nobody there. */
  | { readonly kind: 'void'; readonly problem: string };

/** Reads a status message; undefined for a message with content. */
export function parsePullStatus(message: Msg): PullStatus | undefined {
  if (message.data.length > 0) return undefined;
  const headers = message.headers;
  const code = headers?.code ?? 0;
  if (headers === undefined || code === 0) return undefined;
  const description = headers.description;
  if (code === 100) return { kind: 'heartbeat' };
  if (code === 503) return { kind: 'void', problem: 'nobody answers pulls: no JetStream, stream or consumer' };
  const pending = headers.get('Nats-Pending-Messages');
  if (code === 404 || code === 408) return { kind: 'ended', left: pending === '' ? undefined : Number(pending) };
  if (code === 409 && /exceeded/i.test(description)) return { kind: 'refused', problem: description };
  if (code === 409 && /batch completed|maxbytes/i.test(description)) {
    return { kind: 'ended', left: pending === '' ? undefined : Number(pending) };
  }
  return { kind: 'void', problem: `${code} ${description}` };
}
