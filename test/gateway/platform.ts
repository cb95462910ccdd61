import { type Platform, type ServiceName, startPlatform, testApiKey, waitFor } from '@cleanslate/testing';
import { inject } from 'vitest';

export type GatewayPlatform = {
  readonly platform: Platform;
  /** The latest gateway that said where it listens. */
  readonly url: () => string;
};

/** A platform whose gateway's HTTP address is known. */
export async function startWithGateway(
  services: readonly ServiceName[],
  env: Readonly<Record<string, string>> = {},
): Promise<GatewayPlatform> {
  let port = 0;
  const platform = await startPlatform({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services,
    env: { LOG_LEVEL: 'info', ...env },
    log: (name, line) => {
      if (name === 'gateway') port = Number(/"httpPort":(\d+)/.exec(line)?.[1] ?? port);
      if (process.env['SHOW']) console.log(name, line);
    },
  });
  // It may be ready before what it said about its port was read.
  await waitFor('the port of the gateway', () => port > 0);
  return { platform, url: () => `http://127.0.0.1:${port}` };
}

export function bearer(tenant = 'acme'): Record<string, string> {
  return { authorization: `Bearer ${testApiKey(tenant)}` };
}
