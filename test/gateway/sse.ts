export type ServerSentEvent = { readonly id: string | undefined; readonly event: string; readonly data: string };

/** Events of a response, as a browser's EventSource would see them. */
export async function* readServerSentEvents(response: Response): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = new Map(text.slice(0, end).split('\n').map(splitField));
      text = text.slice(end + 2);
      const data = fields.get('data');
      if (data !== undefined) yield { id: fields.get('id'), event: fields.get('event') ?? 'message', data };
    }
  }
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(': ');
  return [line.slice(0, colon), line.slice(colon + 2)];
}
