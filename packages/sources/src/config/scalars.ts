import { z } from 'zod';

/** YAML scalars arrive as their literal text. */
export function wholeNumber(min: number, max: number) {
  const text = `must be a whole number from ${min} to ${max}`;
  return z
    .string(text)
    .regex(/^[0-9]{1,15}$/, text)
    .transform(Number)
    .refine((value) => value >= min && value <= max, text);
}

export const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');

/** An `http://` or `https://` URL without a user, a password or a fragment. */
export const httpUrl = z.string().refine((value) => {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, hash } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '' && hash === '';
}, 'must be an http:// or https:// URL without user and password: those are named under auth');

/** Logs hide the values of variables with such names; a secret under another name would appear in them. */
const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,80}(?:PASSWORD|SECRET|TOKEN|API_?KEY|CREDENTIALS)$/;

export const secretName = z
  .string()
  .regex(
    SECRET_NAME,
    'must name a variable that ends in _TOKEN, _SECRET, _PASSWORD, _API_KEY or _CREDENTIALS: logs hide the values of those',
  );

/** A database's URL contains its password, which is hidden wherever it appears. */
export const urlName = z.string().regex(/^[A-Z][A-Z0-9_]{0,80}_URL$/, 'must name a variable that ends in _URL');
