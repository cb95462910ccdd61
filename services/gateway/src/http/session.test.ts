import { expect, test } from 'vitest';
import { openSessions } from './session.ts';

const cookieOf = (header: string) => header.split(';')[0] ?? '';

test('a session gives its key back, to every replica with the secret, until it is over', () => {
  let now = 0;
  const secret = 'a secret that is long enough, really';
  const one = openSessions(secret, () => now);
  const header = one.start('csk_1234', true);
  expect(header).toMatch(/; HttpOnly; SameSite=Lax; Secure$/);
  expect(header).not.toContain('csk_1234');
  const cookies = `other=1; ${cookieOf(header)}; more=2`;
  expect(openSessions(secret, () => now).readKey(cookies)).toBe('csk_1234');
  expect(openSessions(undefined, () => now).readKey(cookies)).toBeUndefined();
  now = 12 * 3_600_000;
  expect(one.readKey(cookies)).toBeUndefined();
});

test('what was changed, cut or made up is nobody’s session', () => {
  const sessions = openSessions(undefined);
  const cookie = cookieOf(sessions.start('csk_1234', false));
  const name = cookie.slice(0, cookie.indexOf('=') + 1);
  const bytes = Buffer.from(cookie.slice(name.length), 'base64url');
  for (let i = 0; i < bytes.length; i++) {
    const forged = Buffer.from(bytes);
    forged[i] = (forged[i] ?? 0) ^ 1;
    expect(sessions.readKey(name + forged.toString('base64url'))).toBeUndefined();
    expect(sessions.readKey(name + bytes.subarray(0, i).toString('base64url'))).toBeUndefined();
  }
  for (const made of [undefined, '', name, `${name}x`]) expect(sessions.readKey(made)).toBeUndefined();
});
