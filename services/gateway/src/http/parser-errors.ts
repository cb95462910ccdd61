import type { Socket } from 'node:net';
import { AppError } from '@cleanslate/contracts';
import { newRequestId } from './headers.ts';
import { toProblem } from './problem.ts';

export const MAX_HEADER_BYTES = 16 * 1024;

type Refusal = { readonly status: number; readonly reason: string; readonly error: AppError };

/**
 * What the HTTP parser could not read never becomes a request: it is answered on the bare connection, which ends with
 * it.
 */
export function answerParserError(error: Error & { readonly code?: string }, socket: Socket): void {
  // Nobody is left to be answered.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const { status, reason, error: refused } = toRefusal(error.code);
  const body = JSON.stringify(toProblem({ error: refused, status }, '', newRequestId(undefined)));
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function toRefusal(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const text = `the request's headers are larger than ${MAX_HEADER_BYTES} bytes: send less`;
    return { status: 431, reason: 'Request Header Fields Too Large', error: new AppError('INVALID_INPUT', text) };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const text = 'the request did not arrive in full in time: send it again';
    return { status: 408, reason: 'Request Timeout', error: new AppError('REQUEST_TIMEOUT', text) };
  }
  const text = 'this is not an HTTP/1.1 request: see the request line and the headers';
  return { status: 400, reason: 'Bad Request', error: new AppError('INVALID_INPUT', text) };
}
