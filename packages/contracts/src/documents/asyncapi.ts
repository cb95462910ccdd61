import { CATALOGUE, type CatalogueEntry, listMessages } from '../catalogue.ts';
import { type MessageDefinition, typeOf } from '../message.ts';
import { partiesOf } from './parties.ts';

type JsonMap = Record<string, unknown>;
type Operation = { readonly who: string; readonly action: 'send' | 'receive'; readonly message: MessageDefinition[] };

const PARAMETERS: JsonMap = {
  tenant: { description: 'Id of the tenant; equal to `tenantid` of the envelope.' },
  task: { description: 'Id of the task; on events `invalid` where a refused submit named none.' },
  role: { description: 'Role of the worker, such as `analyzer`.' },
  worker: { description: 'Id of one worker process.' },
  knowledge: { description: 'Knowledge id; `settled` for what became of a task’s candidates.' },
  stream: { description: 'Stream of the message that was given up on.' },
  consumer: { description: 'Durable consumer that gave it up.' },
};

/**
 * AsyncAPI 3.0 document of the whole bus; one operation for each party that may send or receive on a channel.
 * `schemaUrl` returns where the schema of a message type lies, seen from the document.
 */
export function toAsyncApi(schemaUrl: (type: string) => string = (type) => `./${type}.json`): JsonMap {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Cleanslate bus',
      version: '1.0.0',
      description:
        'Every message is a CloudEvents 1.0 JSON event (structured mode) on NATS. `x-stream` names the JetStream stream that keeps a channel; `request` channels are core NATS request / reply, `core` channels are lossy. Operations carry the party as a tag; a tenant’s own client needs those tagged `tenant` only.',
    },
    defaultContentType: 'application/cloudevents+json',
    channels: Object.fromEntries(CATALOGUE.flatMap(toChannels)),
    operations: Object.fromEntries(CATALOGUE.flatMap(toOperations)),
    components: {
      messages: Object.fromEntries(listMessages().map((message) => [typeOf(message), toMessage(message, schemaUrl)])),
    },
  };
}

function toChannels(entry: CatalogueEntry): [string, JsonMap][] {
  const id = toChannelId(entry.subject);
  const names = [...entry.subject.matchAll(/\{([a-z]+)\}/g)].map(([, name = '']) => name);
  const { requests, replies } = splitRequest(entry);
  const channel = {
    address: entry.subject,
    messages: toMessageRefs(requests),
    parameters: Object.fromEntries(names.map((name) => [name, PARAMETERS[name]])),
    ...(isStream(entry) ? { 'x-stream': entry.transport } : { 'x-transport': entry.transport }),
  };
  if (replies.length === 0) return [[id, channel]];
  // The requester names its own inbox, so the address of a reply is not known beforehand.
  return [
    [id, channel],
    [`${id}.reply`, { address: null, messages: toMessageRefs(replies) }],
  ];
}

function toOperations(entry: CatalogueEntry): [string, JsonMap][] {
  const id = toChannelId(entry.subject);
  const { requests, replies } = splitRequest(entry);
  const { senders, receivers } = partiesOf(entry.subject);
  const reply = replies.length === 0 ? {} : { reply: toTarget(`${id}.reply`, replies) };
  const operations: Operation[] = [
    ...senders.map((who) => ({ who, action: 'send' as const, message: requests })),
    ...receivers.map((who) => ({ who, action: 'receive' as const, message: requests })),
  ];
  return operations.map(({ who, action, message }) => [
    `${who}.${action}.${id}`,
    { action, ...toTarget(id, message), ...reply, tags: [{ name: who }] },
  ]);
}

function splitRequest({ transport, messages }: CatalogueEntry): {
  requests: MessageDefinition[];
  replies: MessageDefinition[];
} {
  return transport === 'request'
    ? { requests: messages.slice(0, 1), replies: messages.slice(1) }
    : { requests: [...messages], replies: [] };
}

function toTarget(channelId: string, messages: readonly MessageDefinition[]): JsonMap {
  return {
    channel: { $ref: `#/channels/${channelId}` },
    messages: messages.map((message) => ({ $ref: `#/channels/${channelId}/messages/${typeOf(message)}` })),
  };
}

function toMessageRefs(messages: readonly MessageDefinition[]): JsonMap {
  return Object.fromEntries(
    messages.map((message) => [typeOf(message), { $ref: `#/components/messages/${typeOf(message)}` }]),
  );
}

function toMessage(message: MessageDefinition, schemaUrl: (type: string) => string): JsonMap {
  const type = typeOf(message);
  return { name: type, title: message.name, payload: { $ref: schemaUrl(type) } };
}

function isStream({ transport }: CatalogueEntry): boolean {
  return transport !== 'request' && transport !== 'core';
}

/** `cmd.work.{role}.{tenant}.{task}` → `cmd.work`, `qry.{tenant}.task.get` → `qry.task.get`. */
function toChannelId(subject: string): string {
  return subject
    .split('.')
    .filter((token) => !token.startsWith('{'))
    .join('.');
}
