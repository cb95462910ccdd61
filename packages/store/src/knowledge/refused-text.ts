import { type AppError, isAppError } from '@cleanslate/contracts';

/** A server that refuses this refuses each text. */
export const ANY_TEXT = 'text';

/** An embedding server took none of the texts for what one of them says. A key or a model that is refused (`CONFIGURATION`) is terminal as well, and no fault of theirs. */
export function isTextRefusal(error: unknown): error is AppError {
  return isAppError(error) && error.code === 'EMBEDDINGS_UNAVAILABLE' && error.disposition === 'terminal';
}
