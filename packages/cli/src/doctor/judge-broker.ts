import { MAX_BODY_BYTES } from '@cleanslate/contracts';
import { type Check, fail, ok, warn } from './check.ts';

export type BrokerInfo = { readonly version?: string; readonly jetstream?: boolean; readonly max_payload?: number };

/** Is it a broker that everything fits through? `info` is what it said on connecting. */
export function judgeBroker({ version, jetstream, max_payload: maxPayload = 0 }: BrokerInfo): Check {
  const name = `nats-server ${version}`;
  if (!jetstream) return warn('broker', `${name} without JetStream`, 'enable jetstream in its configuration');
  const found = `${name}, JetStream, messages up to ${maxPayload} bytes`;
  if (maxPayload >= MAX_BODY_BYTES) return ok('broker', found);
  return warn('broker', `${found}: larger documents are refused`, 'set max_payload: 8MB in its configuration');
}

/** A stream that stores nothing any more, with the broker's reason. */
export function refusesPublishes(stream: string, fault: string): Check {
  const remedy = `make room for the broker's files, then restart it: until then it takes nothing for this stream. What it had accepted goes on`;
  return fail(`stream ${stream}`, `publishes to it are refused: ${fault}`, remedy);
}
