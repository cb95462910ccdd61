import { type Bus, Publisher, PullLoop } from '@cleanslate/bus';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

export type FloorClient = 'own' | 'stock';

export type Taken = { readonly data: Uint8Array; ack(): void };

/** How the floor's two processes send and take: both durable, a message id on each send. */
export type FloorLink = {
  /** Settles when the server stored the message. */
  send(
    to: { readonly stream: string; readonly subject: string },
    messageId: string,
    body: Uint8Array,
  ): Promise<unknown>;
  take(
    from: { readonly stream: string; readonly durable: string },
    slots: number,
    onMessage: (message: Taken) => void,
  ): void;
};

const WINDOW = 200;

/** As the platform does: one inbox for all acknowledgements, callbacks, no more pulled than there are slots. */
function linkOwn(bus: Bus): FloorLink {
  const publisher = new Publisher(bus, { window: WINDOW });
  return {
    send: ({ stream, subject }, messageId, body) => publisher.publish({ stream, subject, messageId, body }),
    take: ({ stream, durable }, slots, onMessage) => new PullLoop(bus, { stream, durable, slots, onMessage }).start(),
  };
}

/** As the client's documentation shows it: `js.publish`, and the iterator of `consume`. */
async function linkStock(url: string): Promise<FloorLink> {
  const js = jetstream(await connect({ servers: url }));
  let out = 0;
  const waiting: (() => void)[] = [];
  return {
    send: async ({ subject }, messageId, body) => {
      if (out >= WINDOW) await new Promise<void>((resolve) => waiting.push(resolve));
      else out++;
      try {
        return await js.publish(subject, body, { msgID: messageId });
      } finally {
        const next = waiting.shift();
        if (next === undefined) out--;
        else next();
      }
    },
    take: ({ stream, durable }, slots, onMessage) => {
      void (async () => {
        const consumer = await js.consumers.get(stream, durable);
        for await (const message of await consumer.consume({ max_messages: slots })) onMessage(message);
      })();
    },
  };
}

export function linkFloor(client: string | undefined, bus: Bus, url: string): FloorLink | Promise<FloorLink> {
  return client === 'stock' ? linkStock(url) : linkOwn(bus);
}
