import { type Bus, request } from '@cleanslate/bus';
import { AppError } from '@cleanslate/contracts';
import { z } from 'zod';

const TIMEOUT_MS = 3_000;
const NO_MESSAGE = 10037;

const Answer = z.object({
  error: z.object({ err_code: z.number().optional(), description: z.string().optional() }).optional(),
  state: z.object({ last_seq: z.number() }).optional(),
  ack_floor: z.object({ stream_seq: z.number() }).optional(),
  num_pending: z.number().optional(),
  num_ack_pending: z.number().optional(),
  message: z.object({ seq: z.number(), data: z.string().optional() }).optional(),
});

/** Work queues whose messages become rows: durable by stream. */
const INTO_ROWS = [
  ['INTAKE', 'scheduler-intake'],
  ['REPORTS', 'scheduler-reports'],
  ['DLQ', 'scheduler-dlq'],
] as const;

/** Where each of these streams ends now. */
export async function readEnds(bus: Bus): Promise<ReadonlyMap<string, number>> {
  const ends = await Promise.all(
    INTO_ROWS.map(
      async ([stream]) => [stream, (await ask(bus, `$JS.API.STREAM.INFO.${stream}`, {})).state?.last_seq ?? 0] as const,
    ),
  );
  return new Map(ends);
}

/** True once everything up to these ends has become rows. */
export async function areRows(bus: Bus, ends: ReadonlyMap<string, number>): Promise<boolean> {
  const looks = INTO_ROWS.map(async ([stream, durable]) => {
    const consumer = await ask(bus, `$JS.API.CONSUMER.INFO.${stream}.${durable}`, {});
    // The floor of a work queue does not move past messages that were never there: an empty backlog shows the same.
    const empty = consumer.num_pending === 0 && consumer.num_ack_pending === 0;
    return empty || (consumer.ack_floor?.stream_seq ?? 0) >= (ends.get(stream) ?? 0);
  });
  return (await Promise.all(looks)).every(Boolean);
}

/**
 * Deletes messages under a subject for which `holds` is true; their bytes are overwritten in the broker's files.
 * Returns how many there were.
 */
export async function eraseMessages(
  bus: Bus,
  stream: 'EVENTS' | 'COMMANDS',
  subject: string,
  holds: (text: string) => boolean,
): Promise<number> {
  let erased = 0;
  for (let from = 1; ; ) {
    const { error, message } = await ask(bus, `$JS.API.STREAM.MSG.GET.${stream}`, { seq: from, next_by_subj: subject });
    if (error?.err_code === NO_MESSAGE) return erased;
    if (message === undefined) throw unknown(stream, error?.description);
    if (holds(Buffer.from(message.data ?? '', 'base64').toString('utf8'))) {
      const answer = await ask(bus, `$JS.API.STREAM.MSG.DELETE.${stream}`, { seq: message.seq, no_erase: false });
      // Somebody else may have taken it meanwhile.
      if (answer.error !== undefined && answer.error.err_code !== NO_MESSAGE)
        throw unknown(stream, answer.error.description);
      erased++;
    }
    from = message.seq + 1;
  }
}

function unknown(stream: string, reason = 'no answer'): AppError {
  return new AppError('BROKER_UNAVAILABLE', `stream ${stream}: ${reason}`);
}

async function ask(bus: Bus, subject: string, body: unknown): Promise<z.infer<typeof Answer>> {
  const bytes = await request(bus, subject, new TextEncoder().encode(JSON.stringify(body)), { timeoutMs: TIMEOUT_MS });
  return Answer.parse(JSON.parse(new TextDecoder().decode(bytes)));
}
