import { expect, test } from 'vitest';
import { gatewayConfig } from './config.ts';

const proxies = gatewayConfig.shape.TRUST_PROXY;

test.each(['10.0.0.0/8', '127.0.0.1', 'fd00::/8, 10.1.2.3', 'loopback,uniquelocal', '::1'])(
  'proxies that may be trusted: %s',
  (value) => expect(proxies.parse(value)).toBe(value),
);

// Everybody's word would be taken where a number of hops or `true` was meant.
test.each(['true', '1', '', '10.0.0.0/33', '10.0.0.0/8/8', '0.0.0.0/0', 'proxy.example', 'loopback,'])(
  'what names no proxy is refused: "%s"',
  (value) => expect(proxies.safeParse(value).error?.issues[0]?.message).toContain('such as 10.0.0.0/8'),
);
