import { withoutHidden } from './hidden-characters.ts';

/**
 * Text that addresses a model or a machine rather than the matter at hand. It is at most evidence of an attack, never
 * an order.
 */
const PATTERNS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,60}\b(?:previous|prior|above|earlier|all|any|system|your|the)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules?|guidelines|polic(?:y|ies)|context|checks?|validation)\b/i,
  /\b(?:system|developer|assistant) (?:prompt|message|instruction)s?\b|\byou are (?:now|no longer) (?:a|an|the)\b|\bact as (?:if you|an? (?:ai|assistant|language model|different))\b|\bnew (?:system )?instructions?:/i,
  /\b(?:respond|reply|answer|output) (?:only|exclusively|just) (?:with|in|as)\b|\bdo not (?:tell|mention|reveal|report|flag)\b[^.\n]{0,40}\b(?:user|anyone|this|finding|deviation)/i,
  /<\/?(?:system|context|document|data|instructions?|user|assistant|tool_call|function_call|evidence)\b[^>]{0,80}>|[＜〈]\s?[／/]?\s?(?:system|context|data)\s?[＞〉]/i,
  /"(?:decision|verdict)"\s?:\s?"(?:pass|approve)|"(?:tool|function|name)"\s?:\s?"[^"]{1,60}"\s?,\s?"(?:arguments|parameters|input)"|\b(?:tool_calls?|function_call)\b/i,
  /(?:忽略|无视|忘记|绕过|不要理会)[^。\n]{0,20}(?:以上|之前|前面|上述|所有|系统|任何)[^。\n]{0,20}(?:指令|指示|提示|规则|要求|内容)/,
  /(?:系统提示词?|系统指令|新的指令|你现在是|从现在开始你|请扮演|请直接(?:输出|回复|回答)|判定为(?:通过|合格)|不要(?:告诉|提及|报告|标记))/,
  /!\[[^\]]{0,80}\]\(\s?(?:https?:|\/\/)|<img\b[^>]{0,120}\bsrc\b/i,
];

/** A heuristic, for a flag: nothing is decided by it, since nothing in evidence is ever carried out. */
export function isInstructionLike(text: string): boolean {
  // As a model would read it: without what is hidden between the letters, and with full-width letters as plain ones.
  const shown = withoutHidden(text).text.normalize('NFKC');
  return PATTERNS.some((pattern) => pattern.test(shown));
}
