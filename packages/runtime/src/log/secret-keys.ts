const SECRETS = ['password', 'pass', 'token', 'secret', 'authorization', 'apiKey', 'NATS_PASSWORD', 'DATABASE_URL'];
/** A quotation mark inside a string is escaped, so only a key looks like this. */
const SECRET_KEY = new RegExp(`"(?:${SECRETS.join('|')})":`);

/**
 * Replaces what is under a secret's name in lines of JSON, at any depth. One search covers all lines of a write: hardly
 * any line has such a key, and looking for each of them in each object before it became a line took a third of all
 * memory that a worker allocated.
 */
export function hideSecretKeys(lines: string): string {
  if (!SECRET_KEY.test(lines)) return lines;
  return lines
    .split('\n')
    .map((line) => (SECRET_KEY.test(line) ? JSON.stringify(JSON.parse(line, hideSecret)) : line))
    .join('\n');
}

function hideSecret(key: string, value: unknown): unknown {
  return SECRETS.includes(key) ? '[redacted]' : value;
}
