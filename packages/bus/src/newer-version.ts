import { isAppError } from '@cleanslate/contracts';
import { MAX_NAK_DELAY_MS, type PulledMessage } from './pulled-message.ts';

/**
 * The rollout window: while readers are being upgraded, a message in a version that its reader doesn't know is not at
 * fault. True: it was handed back, and another replica, or this one after its upgrade, may read it. False: there is
 * nothing to wait for, or the window is over, and the message is to be given up on. The window is counted in
 * deliveries, so that it survives restarts and needs no two clocks to agree.
 */
export function awaitNewerReader(message: PulledMessage, error: unknown, windowMs: number): boolean {
  if (!isAppError(error) || error.code !== 'UNSUPPORTED_VERSION') return false;
  const pauseMs = Math.min(MAX_NAK_DELAY_MS, windowMs / 4);
  if (message.deliveries > windowMs / pauseMs) return false;
  message.nak(pauseMs);
  return true;
}
