import { type Bus, request } from '@cleanslate/bus';
import { parseJson, parseSubject } from '@cleanslate/contracts';
import { z } from 'zod';
import { readSubmit } from '../ledger/read-submit.ts';
import type { WorkflowRegistry } from '../ledger/workflow-registry.ts';
import { type HandlerContext, readTraceparent } from './context.ts';

/**
 * Most submits read ahead in one look; and how many messages must have come since the last look to make another worth
 * its request.
 */
const AHEAD = 100;
const BUSY = 100;

const StreamInfo = z.object({ state: z.object({ subjects: z.record(z.string(), z.number()).optional() }).optional() });
const Stored = z.object({
  message: z
    .object({ subject: z.string(), seq: z.number(), data: z.string().default(''), hdrs: z.string().default('') })
    .optional(),
});
type StoredMessage = NonNullable<z.infer<typeof Stored>['message']>;

/**
 * INTAKE is one queue for all tenants, first come, first served. While one of them floods it, the first submits of the
 * others are read ahead, applied, and deleted after the commit, as an ack would. If the consumer delivers one of them
 * as well, the ledger knows it already.
 */
export class Overtaker {
  readonly #context: HandlerContext & { readonly registry: WorkflowRegistry };
  readonly #read = new Map<string, number>();
  #came = 0;
  #newest = 0;

  constructor(context: HandlerContext & { readonly registry: WorkflowRegistry }) {
    this.#context = context;
  }

  /** A submit arrived through the consumer. */
  delivered(sequence: number): void {
    this.#came++;
    this.#newest = Math.max(this.#newest, sequence);
  }

  /** Looks for submits of tenants behind a flood. Returns true if there may be more. Throws `BROKER_UNAVAILABLE`. */
  async look(): Promise<boolean> {
    if (this.#came < BUSY) return false;
    this.#came = 0;
    const { bus } = this.#context;
    const info = StreamInfo.parse(await ask(bus, 'STREAM.INFO.INTAKE', { subjects_filter: 'cmd.task.*' }));
    // The longest queue is the flood: the consumer serves it.
    const queues = Object.entries(info.state?.subjects ?? {}).sort(([, a], [, b]) => a - b);
    const behind = queues.slice(0, -1).map(([subject]) => subject);
    for (const subject of this.#read.keys()) if (!behind.includes(subject)) this.#read.delete(subject);
    if (behind.length === 0) return false;
    const share = Math.ceil(AHEAD / behind.length);
    await Promise.all(behind.slice(0, AHEAD).map((subject) => this.#readAhead(subject, share)));
    return false;
  }

  async #readAhead(subject: string, most: number): Promise<void> {
    const applied: Promise<void>[] = [];
    while (applied.length < most) {
      const from = Math.max(this.#read.get(subject) ?? 0, this.#newest) + 1;
      const body = { seq: from, next_by_subj: subject };
      const { message } = Stored.parse(await ask(this.#context.bus, 'STREAM.MSG.GET.INTAKE', body));
      if (message === undefined) break;
      this.#read.set(subject, message.seq);
      applied.push(this.#apply(message));
    }
    await Promise.all(applied);
  }

  async #apply({ subject, seq, data, hdrs }: StoredMessage): Promise<void> {
    try {
      const tenantId = parseSubject(subject)?.tenantId ?? '';
      const traceparent = readTraceparent(/^traceparent: *(\S+)/im.exec(Buffer.from(hdrs, 'base64').toString())?.[1]);
      const item = readSubmit({ tenantId, body: Buffer.from(data, 'base64'), traceparent }, this.#context.registry);
      await this.#context.ledger.apply(item);
    } catch {
      // Refused, unreadable or an outage: the consumer answers all that when its turn comes.
      return;
    }
    await ask(this.#context.bus, 'STREAM.MSG.DELETE.INTAKE', { seq, no_erase: true });
  }
}

async function ask(bus: Bus, api: string, body: unknown): Promise<unknown> {
  const bytes = Buffer.from(JSON.stringify(body));
  return parseJson(await request(bus, `$JS.API.${api}`, bytes, { timeoutMs: 3_000 }), api);
}
