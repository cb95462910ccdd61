import { type Bus, request } from '@cleanslate/bus';
import { openDatabase } from '@cleanslate/store';
import { z } from 'zod';
import { findAdminUrl } from '../commands/migrate.ts';
import type { CommandContext } from '../context.ts';
import { openAdminBus } from '../target.ts';
import { type Check, fail, ok } from './check.ts';

const NAME = 'ledger age';
const Answer = z.object({ message: z.object({ data: z.string() }).optional() });
const Event = z.object({ epoch: z.number().default(1), sequence: z.string().regex(/^[0-9]+$/) });

/** Does the stream know more than the ledger? Silent if either can't be read: the other checks report that. */
export async function checkAge(context: CommandContext): Promise<readonly Check[]> {
  try {
    await using bus = await openAdminBus(context);
    const last = await findLast(bus);
    await using database = openDatabase({
      url: await findAdminUrl(context),
      applicationName: 'slate-doctor',
      poolSize: 1,
    });
    const { rows } = await database.pool.query<{ epoch: number; position: number }>(
      'SELECT epoch, position FROM ledger.meta',
    );
    const head = rows[0] ?? { epoch: 1, position: 0 };
    const text = `epoch ${head.epoch}, position ${head.position}`;
    if (last === undefined || last.epoch < head.epoch) return [ok(NAME, text)];
    if (last.epoch === head.epoch && last.position <= head.position) return [ok(NAME, text)];
    return [
      fail(
        NAME,
        `${text}, but EVENTS is at epoch ${last.epoch}, position ${last.position}: a restored backup?`,
        'stop all services, then `slate doctor --after-restore`',
      ),
    ];
  } catch {
    return [];
  }
}

async function findLast(bus: Bus): Promise<{ epoch: number; position: number } | undefined> {
  const question = new TextEncoder().encode(JSON.stringify({ last_by_subj: 'evt.task.>' }));
  const bytes = await request(bus, '$JS.API.STREAM.MSG.GET.EVENTS', question, { timeoutMs: 3_000 });
  const { message } = Answer.parse(JSON.parse(new TextDecoder().decode(bytes)));
  if (message === undefined) return undefined;
  const event = Event.safeParse(JSON.parse(Buffer.from(message.data, 'base64').toString('utf8')));
  return event.success ? { epoch: event.data.epoch, position: Number(event.data.sequence) } : undefined;
}
