import { type Bus, request } from '@cleanslate/bus';
import { AppError, Envelope } from '@cleanslate/contracts';
import { type Database, getLastRevision, withTransaction } from '@cleanslate/store';
import { z } from 'zod';

const TIMEOUT_MS = 3_000;
/** No such message, no such stream: nothing was published yet. */
const NOTHING_THERE = [10037, 10059];

const Answer = z.object({
  error: z.object({ err_code: z.number().optional(), description: z.string().optional() }).optional(),
  message: z.object({ data: z.string().default('') }).optional(),
});
const Told = z.looseObject({ revision: z.number() });

/**
 * Throws `LEDGER_BEHIND_STREAM` if EVENTS contains a knowledge revision that the database doesn't have: it was restored
 * from a backup, or its standby took over without the last commits, and going on would issue revisions and versions a
 * second time. Throws `BROKER_UNAVAILABLE` or `REQUEST_TIMEOUT` if the broker can't say.
 */
export async function checkKnowledgeAge(bus: Bus, database: Database): Promise<void> {
  // The stream first: what is published was committed before.
  const told = await findLastTold(bus);
  if (told === undefined) return;
  const known = await withTransaction(database, { role: 'cleanslate_maintainer', readOnly: true }, getLastRevision);
  if (told <= known) return;
  throw new AppError(
    'LEDGER_BEHIND_STREAM',
    `the stream EVENTS is at knowledge revision ${told}, the database at ${known}: it looks like a restored backup, or a standby that lacks the last commits. Stop all services and run \`slate doctor --after-restore\``,
    { details: { stream: told, database: known } },
  );
}

async function findLastTold(bus: Bus): Promise<number | undefined> {
  const query = Buffer.from(JSON.stringify({ last_by_subj: 'evt.knowledge.>' }));
  const reply = await request(bus, '$JS.API.STREAM.MSG.GET.EVENTS', query, { timeoutMs: TIMEOUT_MS });
  const { error, message } = Answer.parse(JSON.parse(Buffer.from(reply).toString('utf8')));
  if (error?.err_code !== undefined && NOTHING_THERE.includes(error.err_code)) return undefined;
  if (message === undefined)
    throw new AppError('BROKER_UNAVAILABLE', `stream EVENTS: ${error?.description ?? 'no answer'}`);
  const event = Envelope.safeParse(JSON.parse(Buffer.from(message.data, 'base64').toString('utf8')));
  // Anything else in the stream says nothing about the database.
  return event.success ? Told.safeParse(event.data.data).data?.revision : undefined;
}
