import { inputError } from '../input-error.ts';

/** `payment-term` or `payment-term@3`. Throws `INVALID_INPUT`. */
export function parseFactRef(ref: string): { knowledgeId: string; version?: number } {
  const match = /^([^@]+)(?:@([1-9][0-9]{0,8}))?$/.exec(ref);
  if (match?.[1] === undefined) {
    const remedy = 'write a knowledge id, or one of its versions as payment-term@3';
    throw inputError({ what: `${ref} names no fact`, where: '<knowledge-id>', remedy });
  }
  return { knowledgeId: match[1], ...(match[2] === undefined ? {} : { version: Number(match[2]) }) };
}
