import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';

const COOKIE = 'cleanslate_session';
const LASTS_MS = 12 * 3_600_000;
const IV_BYTES = 12;
const TAG_BYTES = 16;

const Sealed = z.strictObject({ key: z.string(), until: z.number() });

/**
 * A browser's session is its API key, sealed: no state here, any replica with the same secret can read it, and it ends
 * with the key. Scripts never see the key (`HttpOnly`), and the cookie is sent only to us (`SameSite`).
 */
export type Sessions = {
  /** Value of `set-cookie`. */
  start(key: string, secure: boolean): string;
  readonly end: string;
  /** The key in a `cookie` header; undefined if there is none of ours, or it has expired. */
  readKey(cookies: string | undefined): string | undefined;
};

/** Without a configured secret, a random one: sessions then end with this process. */
export function openSessions(secret: string | undefined, now: () => number = Date.now): Sessions {
  const sealingKey = createHash('sha256')
    .update(secret ?? randomBytes(32))
    .digest();
  const attributes = 'Path=/; HttpOnly; SameSite=Lax';
  return {
    start: (key, secure) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealingKey, iv);
      const text = JSON.stringify({ key, until: now() + LASTS_MS });
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const value = Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
      return `${COOKIE}=${value}; Max-Age=${LASTS_MS / 1_000}; ${attributes}${secure ? '; Secure' : ''}`;
    },
    end: `${COOKIE}=; Max-Age=0; ${attributes}`,
    readKey: (cookies) => {
      const value = cookies?.split(/; */).find((each) => each.startsWith(`${COOKIE}=`));
      const sealed = value && unseal(Buffer.from(value.slice(COOKIE.length + 1), 'base64url'), sealingKey);
      return sealed && sealed.until > now() ? sealed.key : undefined;
    },
  };
}

function unseal(bytes: Buffer, sealingKey: Buffer): z.infer<typeof Sealed> | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', sealingKey, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    return Sealed.parse(JSON.parse(text.toString('utf8')));
  } catch {
    // Another replica's, an older process's, or a forgery: signing in again is the remedy for each.
    return undefined;
  }
}
