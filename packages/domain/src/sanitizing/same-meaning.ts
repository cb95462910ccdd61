import { findTextFeatures } from '../knowledge/text-features.ts';

/**
 * Words that carry the force of a statement, in order. Numbers and dates come from the same reader that compares facts.
 */
const FORCE =
  /\b(?:shall|must|will|may|might|can|could|should|ought|not|no|never|none|neither|nor|without|unless|except|only|if|provided|until|before|after|within|least|most|than|about|approximately|around|up to)\b|n't\b|cannot\b|不得|不超过|不低于|不少于|应当|必须|须|应|可以|可能|有权|无权|禁止|除外|除非|但|如果|若|仅|只|不|未|无|非|没|约|左右|以上|以下|以内|之前|之后|至少|最多/gi;

/**
 * Would two texts be read as the same numbers, dates, negations and modals in the same order? A change of any of them
 * is more than cleaning.
 */
export function keepsMeaning(before: string, after: string): boolean {
  if (forceOf(before) !== forceOf(after)) return false;
  const [left, right] = [findTextFeatures(before), findTextFeatures(after)];
  return (
    left.negations === right.negations &&
    same(left.quantities, right.quantities) &&
    same(left.dates, right.dates) &&
    same(left.modalities, right.modalities)
  );
}

function forceOf(text: string): string {
  return [...text.matchAll(FORCE)].map(([word]) => word.toLowerCase()).join(' ');
}

function same(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
