import { AppError } from '@cleanslate/contracts';
import { fetchThere } from '../server-settings.ts';

/** The first part of an error says enough; some servers repeat the whole prompt. */
const MAX_ERROR_BYTES = 64 * 1024;

/** `fetch` with bounded bodies: an error's body is cut, an answer's beyond `maxBytes` is `MODEL_BAD_ANSWER`. */
export function boundedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetchThere(input, init);
    if (response.body === null) return response;
    if (response.ok) return new Response(response.body.pipeThrough(limit(maxBytes)), response);
    return new Response(await readStart(response.body), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };
}

function limit(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes <= maxBytes) return controller.enqueue(chunk);
      // The next one would be as long.
      const says = `model: the answer is longer than ${maxBytes} bytes: its server does not keep to the longest allowed`;
      controller.error(new AppError('MODEL_BAD_ANSWER', says));
    },
  });
}

async function readStart(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  for (let bytes = 0; bytes < MAX_ERROR_BYTES; ) {
    const { value } = await reader.read();
    if (value === undefined) break;
    chunks.push(value);
    bytes += value.byteLength;
  }
  await reader.cancel().catch(() => undefined);
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString('utf8');
}
