import { type Bus, request } from '@cleanslate/bus';
import { STREAMS } from '@cleanslate/contracts';
import type { Metrics } from '@cleanslate/runtime/service';
import { z } from 'zod';

const TIMEOUT_MS = 2_000;
const StreamInfo = z.object({
  config: z.object({ max_bytes: z.number() }),
  state: z.object({ messages: z.number(), bytes: z.number(), first_ts: z.string().optional() }),
});

/**
 * What lies in each stream: in a work queue that is what waits. A stream that can't be looked at shows
 * nothing instead of its last number.
 */
export function createStreamGauges(bus: Bus, metrics: Metrics): () => Promise<void> {
  const messages = metrics.gauge('slate_stream_messages', 'Messages in a stream', ['stream']);
  const filled = metrics.gauge('slate_stream_filled_ratio', "Part of a stream's byte limit that is used", ['stream']);
  const age = metrics.gauge('slate_stream_oldest_seconds', 'Age of the oldest message in a stream', ['stream']);
  return async () => {
    for (const { name: stream } of STREAMS) {
      const info = await findStreamInfo(bus, stream);
      if (info === undefined) {
        for (const gauge of [messages, filled, age]) gauge.remove({ stream });
        continue;
      }
      const { state, config } = info;
      messages.set({ stream }, state.messages);
      filled.set({ stream }, config.max_bytes > 0 ? state.bytes / config.max_bytes : 0);
      age.set({ stream }, state.messages > 0 ? secondsSince(state.first_ts) : 0);
    }
  };
}

async function findStreamInfo(bus: Bus, stream: string): Promise<z.infer<typeof StreamInfo> | undefined> {
  try {
    const bytes = await request(bus, `$JS.API.STREAM.INFO.${stream}`, new Uint8Array(), { timeoutMs: TIMEOUT_MS });
    return StreamInfo.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  } catch {
    return undefined;
  }
}

function secondsSince(time: string | undefined): number {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? 0 : Math.max(0, (Date.now() - at) / 1_000);
}
