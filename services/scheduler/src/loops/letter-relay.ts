import { type Bus, type Publisher, request } from '@cleanslate/bus';
import { AppError, HEADERS, isAppError } from '@cleanslate/contracts';
import {
  closeLetters,
  type Database,
  findReturningMessages,
  type ReturningMessage,
  returnLetters,
  setReplaySequence,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';

/** The one stream whose reader is another service: its dead letters go back into it. */
const STREAM = 'BLACKBOARD';
const LIMIT = 200;
const GIVE_UP_MS = 5_000;
const NO_MESSAGE = 10037;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export type LetterRelayOptions = { readonly bus: Bus; readonly publisher: Publisher; readonly database: Database };

/**
 * Puts replayed messages back into their stream, in the order in which they failed, and closes their letters once their
 * reader has taken them from it. One that fails again comes back as a letter of its own, which takes the story over.
 * Killed after a publish, the repeat has the same message id.
 */
export async function relayLetters({ bus, publisher, database }: LetterRelayOptions): Promise<boolean> {
  const messages = await withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, (tx) =>
    findReturningMessages(tx, STREAM, LIMIT),
  );
  for (const message of messages) {
    if (message.sequence === null) await putBack({ bus, publisher, database }, message);
    else await follow(bus, database, message.letterId, message.sequence);
  }
  return false;
}

async function follow(bus: Bus, database: Database, letterId: string, sequence: number): Promise<void> {
  const place = await findPlace(bus, sequence);
  if (place === 'waiting') return;
  await withTransaction(database, LEDGER_SCOPE, (tx) =>
    place === 'taken' ? closeLetters(tx, [letterId]) : setReplaySequence(tx, letterId, null),
  );
}

/**
 * What the broker will never take (too large with its lineage) goes back to the operator; an outage only makes it wait.
 */
async function putBack({ publisher, database }: LetterRelayOptions, message: ReturningMessage): Promise<void> {
  try {
    const ack = await publisher.publish(toPublication(message), { giveUpAfterMs: GIVE_UP_MS });
    await withTransaction(database, LEDGER_SCOPE, (tx) => setReplaySequence(tx, message.letterId, ack.seq));
  } catch (error) {
    if (!isAppError(error) || error.disposition === 'retryable') throw error;
    await withTransaction(database, LEDGER_SCOPE, (tx) => returnLetters(tx, [message.letterId]));
  }
}

/**
 * All headers but the server's own (an expectation or a roll-up would be obeyed once more), and the lineage,
 * which replaces an older one.
 */
function toPublication({ letterId, subject, headers, body, replays }: ReturningMessage) {
  const kept = Object.entries(headers).filter(([name]) => /^[!#-9;-~]+$/.test(name) && !/^nats-/i.test(name));
  return {
    stream: STREAM,
    subject,
    body,
    messageId: `replay:${letterId}:${replays}`,
    headers: { ...Object.fromEntries(kept), [HEADERS.replayOf]: letterId },
  };
}

type Answer = {
  readonly error?: { readonly err_code?: number; readonly description?: string };
  readonly state?: { readonly last_seq?: number };
};

/**
 * A message that is no longer there was taken by its reader; in a stream made anew (its sequences begin again)
 * it was lost with the old one.
 */
async function findPlace(bus: Bus, seq: number): Promise<'waiting' | 'taken' | 'lost'> {
  const { error } = await ask(bus, `$JS.API.STREAM.MSG.GET.${STREAM}`, { seq });
  if (error === undefined) return 'waiting';
  if (error.err_code !== NO_MESSAGE) throw unknown(error.description);
  const { state } = await ask(bus, `$JS.API.STREAM.INFO.${STREAM}`, {});
  if (state?.last_seq === undefined) throw unknown();
  return state.last_seq < seq ? 'lost' : 'taken';
}

async function ask(bus: Bus, subject: string, body: object): Promise<Answer> {
  const bytes = await request(bus, subject, encoder.encode(JSON.stringify(body)), { timeoutMs: GIVE_UP_MS });
  return JSON.parse(decoder.decode(bytes)) as Answer;
}

function unknown(why = 'no answer'): AppError {
  return new AppError('BROKER_UNAVAILABLE', `stream ${STREAM}: ${why}`);
}
