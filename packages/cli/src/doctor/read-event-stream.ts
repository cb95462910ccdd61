import { type Bus, request } from '@cleanslate/bus';
import {
  AppError,
  decodeMessage,
  FactChanged,
  parseSubject,
  TaskAccepted,
  type TaskState,
  TaskTransitioned,
} from '@cleanslate/contracts';
import { z } from 'zod';

const TIMEOUT_MS = 5_000;
const AT_ONCE = 200;
const NO_MESSAGE = 10037;
const NO_STREAM = 10059;

const Answer = z.object({
  error: z.object({ err_code: z.number().optional(), description: z.string().optional() }).optional(),
  state: z.object({ first_seq: z.number(), last_seq: z.number() }).optional(),
  message: z.object({ subject: z.string(), data: z.string().optional() }).optional(),
});

/** The newest in the stream EVENTS. */
export type StreamStory = {
  readonly epoch: number;
  readonly position: number;
  readonly revision: number;
  /** By `tenant/task`: the state after its last event. */
  readonly tasks: ReadonlyMap<
    string,
    { readonly tenantId: string; readonly taskId: string; readonly state: TaskState }
  >;
  /** By `tenant/knowledgeId@version`. */
  readonly facts: ReadonlyMap<
    string,
    { readonly tenantId: string; readonly knowledgeId: string; readonly version: number; readonly revision: number }
  >;
};

type Draft = {
  epoch: number;
  position: number;
  revision: number;
  tasks: Map<string, { tenantId: string; taskId: string; state: TaskState }>;
  facts: Map<string, { tenantId: string; knowledgeId: string; version: number; revision: number }>;
};

/** Reads the whole stream, oldest first. A missing stream is empty. Throws `BROKER_UNAVAILABLE`, `REQUEST_TIMEOUT`. */
export async function readEventStream(bus: Bus): Promise<StreamStory> {
  const story: Draft = { epoch: 0, position: 0, revision: 0, tasks: new Map(), facts: new Map() };
  const info = await ask(bus, '$JS.API.STREAM.INFO.EVENTS', {});
  if (info.error?.err_code === NO_STREAM || info.state === undefined) return story;
  const { first_seq: first, last_seq: last } = info.state;
  for (let seq = first; seq <= last; seq += AT_ONCE) {
    const count = Math.min(AT_ONCE, last - seq + 1);
    const answers = await Promise.all(
      Array.from({ length: count }, (_, i) => ask(bus, '$JS.API.STREAM.MSG.GET.EVENTS', { seq: seq + i })),
    );
    for (const { error, message } of answers) {
      if (error && error.err_code !== NO_MESSAGE)
        throw new AppError('BROKER_UNAVAILABLE', `stream EVENTS: ${error.description ?? 'no answer'}`);
      if (message?.data !== undefined) learn(story, message.subject, Buffer.from(message.data, 'base64'));
    }
  }
  return story;
}

function learn(story: Draft, subject: string, bytes: Uint8Array): void {
  const tenantId = parseSubject(subject)?.tenantId;
  if (tenantId === undefined) return;
  if (subject.startsWith('evt.knowledge.')) return learnFact(story, tenantId, bytes);
  const head = readHead(bytes);
  if (head === undefined) return;
  if (head.epoch > story.epoch || (head.epoch === story.epoch && head.position > story.position)) {
    story.epoch = head.epoch;
    story.position = head.position;
  }
  const event = tryDecode([TaskAccepted, TaskTransitioned], bytes);
  const taskId = event?.envelope.taskid;
  if (event === undefined || taskId === undefined) return;
  const { data } = event.envelope;
  story.tasks.set(`${tenantId}/${taskId}`, { tenantId, taskId, state: 'to' in data ? data.to : data.state });
}

function learnFact(story: Draft, tenantId: string, bytes: Uint8Array): void {
  const data = tryDecode([FactChanged], bytes)?.envelope.data;
  if (data === undefined) return;
  const { knowledgeId, version, revision } = data;
  story.revision = Math.max(story.revision, revision);
  if (version === null) return;
  story.facts.set(`${tenantId}/${knowledgeId}@${version}`, { tenantId, knowledgeId, version, revision });
}

const Head = z.object({ epoch: z.number().default(1), sequence: z.string() });

function readHead(bytes: Uint8Array): { epoch: number; position: number } | undefined {
  const parsed = Head.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  return parsed.success ? { epoch: parsed.data.epoch, position: Number(parsed.data.sequence) } : undefined;
}

/** Other types travel there too; one that can't be read is skipped. */
function tryDecode<M extends Parameters<typeof decodeMessage>[0][number]>(
  definitions: readonly M[],
  bytes: Uint8Array,
) {
  try {
    return decodeMessage(definitions, bytes);
  } catch {
    return undefined;
  }
}

async function ask(bus: Bus, subject: string, body: unknown): Promise<z.infer<typeof Answer>> {
  const bytes = await request(bus, subject, new TextEncoder().encode(JSON.stringify(body)), { timeoutMs: TIMEOUT_MS });
  return Answer.parse(JSON.parse(new TextDecoder().decode(bytes)));
}
