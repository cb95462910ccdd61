import { AppError, type Permissions, type Principal, permissionsFor, principalName } from '@cleanslate/contracts';

export type NatsServerConfigOptions = {
  readonly principals: readonly { readonly principal: Principal; readonly password: string }[];
  readonly roles: readonly string[];
};

/**
 * A frozen process keeps its connection, and with it its share of every request that goes to one of several replicas (a
 * claim): the server drops it after three pings, in about 15 s. By default that takes six minutes.
 */
const PINGS = 'ping_interval: "5s"\nping_max: 2\n';

/**
 * The configuration of every nats-server: how soon it drops a silent connection, and the `authorization` block, one
 * user per principal with the permissions of the catalogue. A connection without credentials is refused. Throws
 * `CONFIGURATION` for a password the format can't hold and for a name given twice.
 */
export function toNatsServerConfig({ principals, roles }: NatsServerConfigOptions): string {
  const seen = new Set<string>();
  const users = principals.map(({ principal, password }) => {
    const name = principalName(principal);
    if (seen.has(name)) throw new AppError('CONFIGURATION', `principal ${name} is named twice`);
    seen.add(name);
    return toUser(name, password, permissionsFor(principal, roles));
  });
  return `${PINGS}authorization {\n  timeout: 5\n  users: [\n${users.join(',\n')}\n  ]\n}\n`;
}

function toUser(name: string, password: string, permissions: Permissions): string {
  // One answer per request, within a minute: enough for a commit that waits, and the server forgets the rest.
  const responses = permissions.allowResponses ? '\n        allow_responses: { max: 1, expires: "1m" }' : '';
  return `    {
      user: ${quote(name)}
      password: ${quotePassword(name, password)}
      permissions: {
        publish: ${rule(permissions.publish)}
        subscribe: ${rule(permissions.subscribe)}${responses}
      }
    }`;
}

/** An empty allow list would allow everything. */
function rule(subjects: readonly string[]): string {
  if (subjects.length === 0) return '{ deny: ">" }';
  return `{ allow: [${[...new Set(subjects)].map(quote).join(', ')}] }`;
}

function quotePassword(name: string, password: string): string {
  if (password.length < 8 || !/^[\x21-\x7e]+$/.test(password)) {
    throw new AppError(
      'CONFIGURATION',
      `password of ${name}: use at least 8 printable ASCII characters without blanks`,
    );
  }
  return quote(password);
}

/** The parser expands no variables in double quotes; backslash and quote are escaped. */
function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
