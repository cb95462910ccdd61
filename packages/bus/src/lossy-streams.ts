import { AppError, STREAMS } from '@cleanslate/contracts';
import type { Bus } from './bus.ts';
import { request } from './request.ts';
import { compareSettings, streamSettings } from './topology.ts';

/** With another value the broker drops stored work, or keeps what is finished, without telling anybody. */
const LOSSY = new Set(['retention', 'discard', 'max_msgs', 'max_age']);
const NO_STREAM = 10059;
const TIMEOUT_MS = 3_000;

type Info = {
  readonly error?: { readonly err_code?: number; readonly description?: string };
  readonly config?: object;
};

/**
 * Throws `CONFIGURATION` if a stream would lose work silently: one that existed before, or was changed by hand. A
 * missing stream loses nothing, and is waited for. Throws `BROKER_UNAVAILABLE`, `REQUEST_TIMEOUT` if the broker can't
 * say.
 */
export async function refuseLossyStreams(bus: Bus): Promise<void> {
  const faults = (await Promise.all(STREAMS.map((spec) => findFaults(bus, spec)))).flat();
  if (faults.length === 0) return;
  const text = `${faults.join('; ')}: stored work would be lost. Run \`slate topology apply\``;
  throw new AppError('CONFIGURATION', text, { details: { faults } });
}

async function findFaults(bus: Bus, spec: (typeof STREAMS)[number]): Promise<string[]> {
  const reply = await request(bus, `$JS.API.STREAM.INFO.${spec.name}`, new Uint8Array(), { timeoutMs: TIMEOUT_MS });
  const { error, config } = JSON.parse(Buffer.from(reply).toString('utf8')) as Info;
  if (error?.err_code === NO_STREAM) return [];
  if (config === undefined)
    throw new AppError('BROKER_UNAVAILABLE', `stream ${spec.name}: ${error?.description ?? 'no answer'}`);
  const settings = streamSettings(spec, 1, 0).filter(({ field }) => LOSSY.has(field));
  return compareSettings(`stream ${spec.name}`, settings, config).map(
    ({ what, field, expected, found }) =>
      `${what}: ${field} is ${JSON.stringify(found)}, must be ${JSON.stringify(expected)}`,
  );
}
