import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { sourceError } from '../source-error.ts';
import { isPublicAddress } from './public-address.ts';

/** Every address of a name, as `dns.lookup` gives them. */
export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export type GuardOptions = {
  readonly source: string;
  /** Hosts (`name` or `name:port`) that may be at a private address. Default none. */
  readonly privateHosts?: readonly string[];
  /** Milliseconds until a connection must be made. Default 5 s. */
  readonly connectTimeoutMs?: number;
  /** Default: the system's. */
  readonly resolve?: ResolveAll;
};

const MAX_CONNECTIONS = 16;

/**
 * An HTTP agent that connects to public addresses only. All addresses of a name are checked in the very look-up that
 * the connection uses, so no second answer of the name server can slip in between; an address in the URL is checked
 * before the socket is made.
 */
export function createGuardedAgent(options: GuardOptions): Agent {
  const { source, privateHosts = [], connectTimeoutMs = 5_000, resolve = systemLookup } = options;
  const allowed = new Set(privateHosts.map((host) => host.toLowerCase()));
  const connectorOptions = { timeout: connectTimeoutMs, allowH2: false };
  const free = buildConnector(connectorOptions);
  const guarded = buildConnector({ ...connectorOptions, lookup: toPublicLookup(resolve, source) });
  const connect: buildConnector.connector = (target, callback) => {
    const hostname = target.hostname.replace(/^\[|\]$/g, '');
    const port = target.port || (target.protocol === 'https:' ? '443' : '80');
    if (allowed.has(hostname) || allowed.has(`${hostname}:${port}`)) return free({ ...target, hostname }, callback);
    if (isIP(hostname) !== 0 && !isPublicAddress(hostname)) return callback(notPublic(source, hostname), null);
    return guarded({ ...target, hostname }, callback);
  };
  return new Agent({ connect, connections: MAX_CONNECTIONS, pipelining: 1, keepAliveTimeout: 10_000 });
}

/**
 * A look-up that fails if any address of the name isn't public: a name with one of each is made to get past a guard.
 */
function toPublicLookup(resolve: ResolveAll, source: string): LookupFunction {
  return (hostname, options, callback) => {
    const { all, ...rest } = options;
    resolve(hostname, { ...rest, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        return callback(notPublic(source, hostname), '', 0);
      if (all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

function notPublic(source: string, hostname: string) {
  return sourceError(
    'SOURCE_FORBIDDEN',
    source,
    `was not asked: "${hostname}" is not at a public address. Where that is meant, list it under privateHosts`,
  );
}
