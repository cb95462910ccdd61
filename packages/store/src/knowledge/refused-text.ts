import { type AppError, isAppError } from '@cleanslate/contracts';

/** A server that refuses this text refuses every text. */
export const ANY_TEXT = 'text';

/**
 * An embedding server refused these texts because of what one of them says. A refused key or model (`CONFIGURATION`) is
 * terminal as well, but not their fault.
 */
export function isTextRefusal(error: unknown): error is AppError {
  return isAppError(error) && error.code === 'EMBEDDINGS_UNAVAILABLE' && error.disposition === 'terminal';
}
