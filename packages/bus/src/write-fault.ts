import type { StreamName } from '@cleanslate/contracts';
import type { Bus } from './bus.ts';
import { request } from './request.ts';

const TIMEOUT_MS = 3_000;
/** `JSStreamNotFoundErr`: reporting what is missing is the topology's job. */
const NO_STREAM = 10059;
/** No subject of the catalogue has this form, so no message can be under it. */
const NOBODYS_SUBJECT = 'slate.doctor.probe';

type PurgeAnswer = { readonly error?: { readonly err_code?: number; readonly description?: string } };

/**
 * Why a stream stores nothing any more, in the broker's words; undefined where it does. After one failed write (a
 * full disk) nats-server refuses every further one of that stream until it is restarted, answers publishes with
 * silence, and describes the stream as healthy. A publish would be a message that somebody gets, and one that
 * must fail (`Nats-Expected-Last-Sequence`) is answered before the store is asked; a purge asks the store, and
 * this one is of a subject that holds nothing. Throws `BROKER_UNAVAILABLE`, `REQUEST_TIMEOUT`, `UNAUTHORIZED`
 * (only the administrator may).
 */
export async function findWriteFault(bus: Bus, stream: StreamName): Promise<string | undefined> {
  const body = Buffer.from(JSON.stringify({ filter: NOBODYS_SUBJECT }));
  const answer = await request(bus, `$JS.API.STREAM.PURGE.${stream}`, body, { timeoutMs: TIMEOUT_MS });
  const { error } = JSON.parse(Buffer.from(answer).toString('utf8')) as PurgeAnswer;
  if (error === undefined || error.err_code === NO_STREAM) return undefined;
  return error.description ?? `error ${error.err_code}`;
}
