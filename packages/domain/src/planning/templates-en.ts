import type { QuestionShape, Template } from './question-shape.ts';

const COMPARATIVE =
  '(?:longer|shorter|higher|lower|larger|smaller|greater|more|less|fewer|bigger|stricter|later|earlier)';
const SOMEONE =
  '(?:person|people|one|role|team|department|office|manager|officer|director|supplier|vendor|customer|company|unit|committee|region|site|warehouse|plan|tier|category|class|contract|project)';

/**
 * "the payment term for customers" and "suppliers" → "the payment term for suppliers": the second says only what
 * differs.
 */
function completeSecond(first: string, second: string): string {
  const head = /^(?<attribute>.*\S)\s(?<link>of|for|in|from|to|at)\s(?<thing>\S.*)$/i.exec(first)?.groups;
  const attribute = head?.['attribute'];
  if (attribute === undefined) return second;
  const linked = /^(?:that |the one |those |the ones )?(?<link>of|for|in|from|to|at)\s(?<thing>.+)$/i.exec(
    second,
  )?.groups;
  if (linked !== undefined) return `${attribute} ${linked['link'] ?? ''} ${linked['thing'] ?? ''}`;
  return /\s(?:of|for|in|from|to|at)\s/i.test(second) ? second : `${attribute} ${head?.['link'] ?? ''} ${second}`;
}

function compared(first: string, second: string): QuestionShape {
  return { shape: 'comparison', topics: [first, completeSecond(first, second)] };
}

/** English, most specific first; `?` and times are already removed. */
export const EN_TEMPLATES: readonly Template[] = [
  {
    pattern: new RegExp(
      `^(?:was|were|is|are|has|have)\\s(?<topic>.+?)\\s(?:been\\s)?${COMPARATIVE}\\s(?:\\w+\\s)?than$`,
      'i',
    ),
    read: ({ topic = '' }) => ({ shape: 'comparison_over_time', topic }),
  },
  {
    pattern: /^(?:compare|how do(?:es)?)\s(?<topic>.+?)\s(?:and|with|to|compare with|compare to)$/i,
    read: ({ topic = '' }) => ({ shape: 'comparison_over_time', topic: topic.replace(/\scompare$/i, '') }),
  },
  {
    pattern: /\bdifferences?\sbetween\s(?<first>.+?)\sand\s(?<second>.+)$/i,
    read: ({ first = '', second = '' }) => compared(first, second),
  },
  {
    pattern: /^compare\s(?<first>.+?)\s(?:and|with|to)\s(?<second>.+)$/i,
    read: ({ first = '', second = '' }) => compared(first, second),
  },
  {
    pattern: new RegExp(
      `^which\\s(?:is|are|one is)\\s(?:the\\s)?${COMPARATIVE}[,:]?\\s(?<first>.+?)\\sor\\s(?<second>.+)$`,
      'i',
    ),
    read: ({ first = '', second = '' }) => compared(first, second),
  },
  {
    pattern: new RegExp(`^(?:is|are|was|were)\\s(?<first>.+?)\\s${COMPARATIVE}\\sthan\\s(?<second>.+)$`, 'i'),
    read: ({ first = '', second = '' }) => compared(first, second),
  },
  {
    pattern:
      /^(?:(?:how|in what way)\s(?:does|do)|(?:how|in what way|when)\s(?:has|have|did|was|were))\s(?<topic>.+?)\s(?:last\s)?(?:been\s)?(?:changed?|developed?|evolved?)$/i,
    read: ({ topic = '' }) => ({ shape: 'change', topic }),
  },
  {
    pattern:
      /^(?:has|have|did)\s(?<topic>.+?)(?<!\s(?:an?|the|any|every|each|no|of|for|to|that|which))\s(?:ever\s)?(?:been\s)?changed?$/i,
    read: ({ topic = '' }) => ({ shape: 'change', topic }),
  },
  {
    pattern:
      /^what(?:['’]s|\s(?:has|have|is|was))?\s(?:been\s)?(?:changed?|changes|new|different)\s(?:(?:have been|has been|are there|were there|were|are)\s)?(?:made\s)?(?:about|in|with|for|to|on|regarding|concerning)\s(?<topic>.+)$/i,
    read: ({ topic = '' }) => ({ shape: 'change', topic }),
  },
  {
    pattern: /^(?:what is the|show the|give the)\s(?:history|development|changes?)\s(?:of|in|to)\s(?<topic>.+)$/i,
    read: ({ topic = '' }) => ({ shape: 'change', topic }),
  },
  {
    pattern: new RegExp(
      `^(?<ask>.+?)\\s(?<link>of|for|to|by|with|does)\\s(?:the|a)\\s(?<thing>(?:[\\w-]+\\s)?${SOMEONE})\\s(?:who|that|which)\\s(?<relation>.+)$`,
      'i',
    ),
    read: ({ ask = '', link = '', thing = '', relation = '' }) => ({
      shape: 'multi_hop',
      first: /\b(?:person|people|one)$/i.test(thing) ? `Who ${relation}` : `Which ${thing} ${relation}`,
      second: `${ask} ${link} {g1}`,
    }),
  },
  {
    pattern:
      /^(?<topic>(?:what|which|who|whom|whose|when|where|how|why|is|are|was|were|do|does|did|may|must|can|could|should|shall|will|has|have|by when|until when|to whom|for how|in which|at what|under what)\b.+)$/i,
    read: ({ topic = '' }) => ({ shape: 'lookup', topic }),
  },
];
