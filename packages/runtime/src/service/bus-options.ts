import type { BusStatus, ConnectBusOptions } from '@cleanslate/bus';
import type { Principal } from '@cleanslate/contracts';
import type { z } from 'zod';
import type { baseConfig } from '../config/config.ts';
import type { Logger } from '../log/logger.ts';

/** How a service connects: by its configuration, logging every change of the connection. */
export function busOptions(
  config: Pick<z.infer<typeof baseConfig>, 'NATS_URL' | 'NATS_USER' | 'NATS_PASSWORD'>,
  principal: Principal,
  logger: Logger,
): ConnectBusOptions {
  return {
    servers: config.NATS_URL,
    principal,
    ...(config.NATS_USER === undefined ? {} : { user: config.NATS_USER }),
    ...(config.NATS_PASSWORD === undefined ? {} : { password: config.NATS_PASSWORD }),
    onStatus: (status) => logStatus(logger, status),
  };
}

function logStatus(logger: Logger, status: BusStatus): void {
  const { type, ...rest } = status;
  // During an outage it comes several times a second.
  if (type === 'reconnecting') logger.debug({ bus: type, ...rest }, 'bus');
  else if (type === 'permission-violation' || type === 'error') logger.error({ bus: type, ...rest }, 'bus');
  else logger.warn({ bus: type, ...rest }, 'bus');
}
