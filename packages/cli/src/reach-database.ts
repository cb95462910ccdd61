import { isAppError } from '@cleanslate/contracts';
import { inputError } from './input-error.ts';

/** Names the remedy if an administrator's connection fails, or names a tenant that doesn't exist. */
export async function reach<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isAppError(error) && error.code === 'UNKNOWN_TENANT') {
      const remedy = '`slate tenant list` shows those there are, `slate tenant add` registers one';
      throw inputError({ code: error.code, what: error.message, where: '<tenant>', remedy }, error);
    }
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!/^(ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|28|08|3D)/.test(code)) throw error;
    const what = error instanceof Error && error.message !== '' ? error.message : code;
    throw inputError(
      {
        code: 'DATABASE_UNAVAILABLE',
        what,
        where: 'DATABASE_URL',
        remedy: 'check host, port, user, password and database',
      },
      error,
    );
  }
}
