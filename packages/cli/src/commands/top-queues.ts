import { type Bus, request } from '@cleanslate/bus';
import { STREAMS } from '@cleanslate/contracts';
import { z } from 'zod';

/** One durable of the broker: what it has yet to deliver, what is out unacknowledged, what was redelivered. */
export type QueueLoad = {
  readonly stream: string;
  readonly consumer: string;
  readonly pending: number;
  readonly unacknowledged: number;
  readonly redelivered: number;
};

const Consumers = z.object({
  consumers: z
    .array(
      z.object({
        stream_name: z.string(),
        name: z.string(),
        num_pending: z.number(),
        num_ack_pending: z.number(),
        num_redelivered: z.number(),
      }),
    )
    .nullable(),
});

/** As an administrator; durables by stream. */
export async function readBrokerQueues(bus: Bus): Promise<QueueLoad[]> {
  const answers = await Promise.all(
    STREAMS.map(async ({ name }) => {
      const bytes = await request(bus, `$JS.API.CONSUMER.LIST.${name}`, new TextEncoder().encode('{"offset":0}'), {
        timeoutMs: 3_000,
      });
      return Consumers.parse(JSON.parse(new TextDecoder().decode(bytes))).consumers ?? [];
    }),
  );
  return answers.flat().map((each) => ({
    stream: each.stream_name,
    consumer: each.name,
    pending: each.num_pending,
    unacknowledged: each.num_ack_pending,
    redelivered: each.num_redelivered,
  }));
}
