import { type Bus, request } from '@cleanslate/bus';
import {
  AppError,
  type AttemptRef,
  Envelope,
  HEADERS,
  subjects,
  toAttemptHeaders,
  workConsumer,
} from '@cleanslate/contracts';

const TIMEOUT_MS = 3_000;
const NO_MESSAGE = 10037;
const NO_STREAM = 10059;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** `hdrs` and `data` in base64. */
type StoredMessage = { readonly subject: string; readonly seq: number; readonly hdrs?: string; readonly data?: string };

type ApiAnswer = {
  error?: { err_code?: number; description?: string };
  state?: { last_seq?: number };
  ack_floor?: { stream_seq?: number };
  num_pending?: number;
  num_ack_pending?: number;
  message?: StoredMessage;
};

/**
 * True while COMMANDS holds that very doorbell for somebody to hear. Its sequence alone doesn't prove that: after a
 * wipe, or in a recreated stream, another message may have it. Throws `BROKER_UNAVAILABLE` if the broker can't say, and
 * while the stream is missing: nothing could be rung then.
 */
export async function holdsDoorbell(
  bus: Bus,
  attempt: AttemptRef,
  { role, ring, doorbellSeq }: { readonly role: string; readonly ring: number; readonly doorbellSeq: number },
): Promise<boolean> {
  const wanted = Object.entries(toAttemptHeaders(attempt, ring));
  const subject = subjects.work(role, attempt.tenantId, attempt.taskId);
  const message = await findCommand(bus, { seq: doorbellSeq });
  if (message?.subject !== subject) return false;
  const found = parseHeaders(message.hdrs ?? '');
  if (!wanted.every(([name, value]) => found.get(name) === value)) return false;
  if (!(await isStranded(bus, role, message.seq))) return true;
  await ask(bus, '$JS.API.STREAM.MSG.DELETE.COMMANDS', { seq: message.seq, no_erase: true });
  return false;
}

async function findCommand(bus: Bus, body: unknown): Promise<StoredMessage | undefined> {
  const { error, message } = await ask(bus, '$JS.API.STREAM.MSG.GET.COMMANDS', body);
  if (error?.err_code === NO_MESSAGE) return undefined;
  if (message === undefined) throw unknown('COMMANDS', error?.description);
  return message;
}

/**
 * Given up by its durable while it is still in the stream: somebody had limited the deliveries, and lifting the limit
 * brings none of them back.
 */
async function isStranded(bus: Bus, role: string, sequence: number): Promise<boolean> {
  const answer = await ask(bus, `$JS.API.CONSUMER.INFO.COMMANDS.${workConsumer(role).durable}`, {});
  if (answer.error !== undefined || answer.ack_floor?.stream_seq === undefined) return false;
  return answer.ack_floor.stream_seq >= sequence || (answer.num_pending === 0 && answer.num_ack_pending === 0);
}

export type EventPosition = { readonly epoch: number; readonly position: number };

/**
 * Where the stream of task events ends; undefined if it is empty. Throws `BROKER_UNAVAILABLE` if the broker can't say.
 */
export async function findLastPosition(bus: Bus): Promise<EventPosition | undefined> {
  const { error, message } = await ask(bus, '$JS.API.STREAM.MSG.GET.EVENTS', { last_by_subj: 'evt.task.>' });
  if (error?.err_code === NO_MESSAGE || error?.err_code === NO_STREAM) return undefined;
  if (message?.data === undefined) throw unknown('EVENTS', error?.description);
  const event = Envelope.safeParse(JSON.parse(Buffer.from(message.data, 'base64').toString('utf8')));
  if (!event.success || event.data.sequence === undefined) return undefined;
  return { epoch: event.data.epoch ?? 1, position: Number(event.data.sequence) };
}

function parseHeaders(base64: string): ReadonlyMap<string, string> {
  const lines = Buffer.from(base64, 'base64').toString('utf8').split('\r\n');
  const ours = new Set<string>(Object.values(HEADERS));
  const found = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    if (ours.has(name)) found.set(name, line.slice(colon + 1).trim());
  }
  return found;
}

function unknown(stream: string, reason = 'no answer'): AppError {
  return new AppError('BROKER_UNAVAILABLE', `stream ${stream}: ${reason}`);
}

/**
 * Waits until every report stored by now is applied (the consumer's ack floor has passed the stream's last sequence),
 * so that no lease ends although a report came in time. False if the broker can't say: the lease then waits for the
 * next sweep.
 */
export async function reportsSettledUpTo(bus: Bus, waitMs: number): Promise<boolean> {
  const stream = await ask(bus, '$JS.API.STREAM.INFO.REPORTS', {}).catch(() => undefined);
  const last = stream?.state?.last_seq;
  if (last === undefined) return false;
  const giveUpAt = performance.now() + waitMs;
  while (performance.now() < giveUpAt) {
    const consumer = await ask(bus, '$JS.API.CONSUMER.INFO.REPORTS.scheduler-reports', {}).catch(() => undefined);
    const floor = consumer?.ack_floor?.stream_seq;
    if (floor === undefined) return false;
    // On a work queue the floor does not move past messages that were never there: an empty backlog shows the same.
    if (floor >= last || (consumer?.num_pending === 0 && consumer.num_ack_pending === 0)) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return true;
}

async function ask(bus: Bus, subject: string, body: unknown): Promise<ApiAnswer> {
  const bytes = await request(bus, subject, encoder.encode(JSON.stringify(body)), { timeoutMs: TIMEOUT_MS });
  return JSON.parse(decoder.decode(bytes)) as ApiAnswer;
}
