/** A vector for each text, the same for the same text. */
export function toVectors(body: Readonly<Record<string, unknown>>, dimension: number) {
  const input = Array.isArray(body['input']) ? (body['input'] as string[]) : [String(body['input'])];
  const size = typeof body['dimensions'] === 'number' ? body['dimensions'] : dimension;
  return {
    object: 'list',
    model: body['model'],
    data: input.map((text, index) => ({ object: 'embedding', index, embedding: toVector(text, size) })),
    usage: { prompt_tokens: input.length, total_tokens: input.length },
  };
}

function toVector(text: string, size: number): number[] {
  const vector = Array.from({ length: size }, () => 0);
  for (let at = 0; at < text.length; at++) {
    const place = (text.charCodeAt(at) * 31 + at) % size;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}
