import { listMessages, parseJson, toAsyncApi, toMessageSchema, toOpenApi, typeOf } from '../src/index.ts';
import { readRecordedMessages } from './recorded-messages.ts';

/** File name → text of every document in `docs/schemas`. */
export function toSchemaDocuments(): ReadonlyMap<string, string> {
  const examples = Map.groupBy(readRecordedMessages(), (message) => message.type);
  const documents = new Map<string, string>();
  for (const definition of listMessages()) {
    const type = typeOf(definition);
    const recorded = (examples.get(type) ?? []).map((message) => parseJson(message.bytes, message.name));
    documents.set(`${type}.json`, toText(toMessageSchema(definition, recorded)));
  }
  documents.set('asyncapi.json', toText(toAsyncApi()));
  documents.set('openapi.json', toText(toOpenApi()));
  return documents;
}

function toText(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
