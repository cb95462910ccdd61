import type { MemoryKind, MemoryRefusal } from './memory.ts';

/** "Suppose I prefer", "For example": said of a case, not of how things are. */
const SUPPOSED =
  /^(?:suppose|supposing|imagine|assum(?:e|ing)|let['’]s (?:say|assume|suppose)|what if|for (?:example|instance)|hypothetically|in (?:the|this|that|a|my) (?:story|example|scenario|novel|game))\b/i;
/** "If we decided": what follows is said of that case. */
const CONDITION = /^(?:if|unless|in case|when|once|until|before|as soon as) (?:we|i)\b/i;
/** "Had we decided", "If we were": of a case that is known not to be. */
const UNREAL = /^(?:had|should|were) (?:we|i)\b|^(?:if|unless) (?:we|i) (?:were|had)\b/i;
/** "When I travel, I prefer trains": the wish itself stands, and its condition is quoted with it. */
const STANDING_WISH =
  /^[^,]+, (?:please |then )?(?:(?:i|we)(?:['’]d| would)?(?: always| usually| generally| much| really)? prefer|(?:you should )?(?:always|never))\b/i;
/** "Once we had compared both, we chose Oslo": of a time, not of a case. */
const TIMED_DECISION =
  /^(?:when|once|until|before|as soon as) [^,]+, (?:we|i)(?:['’](?:ve|d)| have| had)?(?: all| then| finally)? (?:decided|agreed|chose|settled)\b/i;
const SUPPOSED_ZH = /^(?:假如|假设|假定|设想|比如|例如|譬如|如果我|若我|倘若我|要是我|万一我|一旦我|除非我|等我)/;
/** A line of a mail that is answered, or a sentence in quotation marks. */
const QUOTED = /^(?:>|["“‘「『«])/;
/** What others said, or what is denied to have been said. A correction may well name who says otherwise. */
const REPORTED =
  /(?<!\b(?:i|we)(?:['’]ve| have)?(?: (?:already|also|always|just|\w+ly))?\s)\b(?:said|says|wrote|writes|told (?:me|us)|claim(?:s|ed) (?:we|i)|claimed (?:that|to))\b|\b(?:he|she|they|it|who|mail|letter) claims?\b|\b(?:not|never) (?:true|said?|the case)\b/i;
const REPORTED_ZH =
  /(?:(?<!其)[他她它谁]们?|有人|别人|其他人)(?:还|也|曾)?(?:说|写|称|认为)|据说|听说|写道|没(?:有)?说过?|并非|不是真的/;
/** For this once; a decision of today stays one, a preference of today is gone tomorrow. */
const FOR_NOW =
  /\bfor (?:now|once|today|the moment|this (?:one|time|answer|question|message|task|reply))\b|\b(?:just|only) (?:this|that) (?:once|time|one)\b|\b(?:today|tonight|this time|right now)\b/i;
const FOR_NOW_ZH = /这(?:一)?[次回]|本次|暂时|今天|今晚|先这样/;
const JOKE = /\b(?:just kidding|only joking|just joking|kidding)\b|开玩笑|说笑/i;

/** Why a sentence that sounds like a statement for good is none. Undefined: nothing says so. */
export function findUnmeant(kind: MemoryKind, sentence: string): MemoryRefusal | undefined {
  const text = sentence.trim();
  if (SUPPOSED.test(text) || SUPPOSED_ZH.test(text) || JOKE.test(text)) return 'supposed';
  if (UNREAL.test(text) || (CONDITION.test(text) && !isMeantAllTheSame(kind, text))) return 'supposed';
  if (QUOTED.test(text)) return 'reported';
  if (kind !== 'correction' && (REPORTED.test(text) || REPORTED_ZH.test(text))) return 'reported';
  if (kind === 'preference' && (FOR_NOW.test(text) || FOR_NOW_ZH.test(text))) return 'for_now';
  return undefined;
}

function isMeantAllTheSame(kind: MemoryKind, text: string): boolean {
  return kind === 'preference' ? STANDING_WISH.test(text) : kind === 'decision' && TIMED_DECISION.test(text);
}
