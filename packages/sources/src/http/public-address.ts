import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Blocks of the IANA special-purpose registry that reach something other than the internet: this host, its network, a
 * link, a group, nobody.
 */
const SPECIAL_IPV4 = toBlockList('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]);
const GLOBAL_UNICAST = toBlockList('ipv6', [['2000::', 3]]);
/**
 * Inside the global block: protocol assignments (Teredo among them), documentation, 6to4, which carries an IPv4
 * address of anybody's choice.
 */
const SPECIAL_IPV6 = toBlockList('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]);
const NAT64 = toBlockList('ipv6', [['64:ff9b::', 96]]);

function toBlockList(family: 'ipv4' | 'ipv6', subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family);
  return list;
}

/**
 * Does the address lead to the public internet? Everything else (loopback, private, link-local, carrier-grade NAT,
 * multicast, IPv4 mapped into IPv6, anything that is not an address) does not. A NAT64 address is judged by the IPv4
 * address that it is translated to.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !SPECIAL_IPV4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  if (NAT64.check(address, 'ipv6')) return isPublicAddress(lastFourBytes(address));
  return GLOBAL_UNICAST.check(address, 'ipv6') && !SPECIAL_IPV6.check(address, 'ipv6');
}

function lastFourBytes(address: string): string {
  // As a URL prints it: groups of hexadecimal digits only.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':');
  const [high, low] = groups.slice(-2).map((group) => (group === '' ? 0 : Number.parseInt(group, 16)));
  return [(high ?? 0) >> 8, (high ?? 0) & 255, (low ?? 0) >> 8, (low ?? 0) & 255].join('.');
}
