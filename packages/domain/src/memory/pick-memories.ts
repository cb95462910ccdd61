import type { MemoryKind, PickedMemory, SaidItem } from './memory.ts';
import { splitSentences } from './sentences.ts';

/**
 * Tried in this order: "No, we decided on Oslo" is a correction, and "we decided that I always get a copy" is a
 * decision.
 */
const CUES: readonly { readonly kind: MemoryKind; readonly pattern: RegExp }[] = [
  {
    kind: 'correction',
    pattern:
      /^(?:no|wrong|correction|actually)\s?[,:;-]\s?(?=.*(?:\d|\bnot\b|\bis\b|\bare\b|\bwas\b|\bshould\b|\bdecided\b))|\b(?:that|this|it)(?:'s| is| was) (?:wrong|incorrect|not right|a mistake)\b.{0,40}[,:;]\s?\S|\b(?:should|must) (?:be|read|say) .{1,80},? not\b|\bis not .{1,80}[,;] (?:but|it(?:'s| is))\b/i,
  },
  {
    kind: 'correction',
    pattern:
      /^(?:不对|错了|更正|纠正)[,，:：;；。\s]*\S{2}|不是.{1,40}[,，]?\s?(?:而是|应(?:该|为|当是))|应(?:更正|改)为/,
  },
  {
    kind: 'decision',
    pattern:
      /\b(?:we|i)(?:'ve| have)?(?: now| finally| already)? (?:decided|agreed|chosen|chose|settled on|approved|signed off)\b|\b(?:we|i)(?:'ll| will| are going to) (?:go|proceed|stay|stick) with\b|\b(?:our|the|my) (?:final )?(?:decision|choice) is\b/i,
  },
  {
    kind: 'decision',
    pattern:
      /(?:我们?|双方|团队|公司)(?:最终|已经?|一致|都)?(?:决定|确定采用|选定|同意|批准|敲定)|最终(?:决定|方案(?:是|为))/,
  },
  {
    kind: 'preference',
    pattern:
      /\b(?:i|we)(?:'d| would)?(?: always| usually| generally| much| really)? prefer\b|\b(?:my|our) (?:preferred|usual|default|favou?rite)\b|\b(?:please |you should )?(?:always|never) (?:use|send|write|call|include|show|give|answer|address|round|put|quote|add)\b|\b(?:from now on|in (?:the )?future|by default)\b,? (?:please )?\S/i,
  },
  {
    kind: 'preference',
    pattern:
      /我们?(?:一般|通常|总是|更|比较|都)?(?:更?喜欢|偏好|倾向于|习惯)|(?:以后|今后|从现在起|往后|默认)(?:都|请|一律|就)?\S|请(?:始终|总是|一律|不要再|每次都)/,
  },
];

/**
 * What users said about how they want things, what they decided and what they corrected: whole sentences that contain
 * the words for it. Everything else is left.
 */
export function pickMemories(items: readonly SaidItem[]): PickedMemory[] {
  return items
    .filter(({ from }) => from === 'user')
    .flatMap(({ n, text }) =>
      splitSentences(text).flatMap((quote) => {
        const cue = CUES.find(({ pattern }) => pattern.test(quote));
        return cue === undefined ? [] : [{ kind: cue.kind, item: n, quote }];
      }),
    );
}
