import { byCases, type Duration, durationsOf, type Found, type Hit, isBlank, type KindRules, stated } from '../rule.ts';

const PAYMENT =
  /\b(?:pay\w*|invoice|salary|benefits?|severance|refund|return|deliver|destroy|cease|vacate|option|exercise|report|coverage)\b/i;
const NOTICE_AFTER =
  /^\W{0,3}(?:(?:prior|advance|written|calendar|business|days?'?|months?'?|previous|of|in|the)\W{0,3}){0,4}(?:notice|notification|warning)\b|^\W{0,4}(?:after|following|of|from|prior to|before)\b[^.;]{0,60}\b(?:notice|notification|notif\w+|terminat\w+|effective)\b|^\W{0,3}(?:in advance|advance|prior)\b/i;
const NOTICE_BEFORE = /\b(?:notice|notif\w+)\b[^.;]{0,80}$/i;

/** Other things that last, or have lasted, for so many days. */
const OTHER_BEFORE =
  /\b(?:renew\w*|expir\w+ of|end of (?:the )?(?:\w+ )?(?:term|period)|sale|disab\w+|incapaci\w+|absen\w+|unable|illness|consecutive|aggregate|preceding|transition|been|more than)\b[^.;]{0,60}$/i;
const OTHER_AFTER = /^\W{0,3}transition\b/i;
/**
 * "renewed unless either gives ninety days' notice before the term ends" keeps it from going on; it ends nothing early.
 */
const AGAINST_RENEWAL =
  /^[^.;]{0,60}\b(?:prior to|before) (?:the )?(?:\w+ ){0,3}(?:expiration|expiry|end|renewal|anniversary)\b/i;
const RENEWS = /\b(?:renew(?:s|ed|al)?|extend(?:s|ed)?|extension)\b/i;
const CURE =
  /\bcur(?:e|ed|ing)\b|\bput right\b|\bmade good\b|\bmakes? good\b|\bremed(?:y|ied)\b|\bcorrect\w*\b|\brectif\w+|\buncorrected\b/i;

function candidates(plain: string): Duration[] {
  const renews = RENEWS.test(plain);
  return durationsOf(plain).filter(
    ({ unit, before, after }) =>
      unit !== 'years' &&
      !OTHER_BEFORE.test(before) &&
      !OTHER_AFTER.test(after) &&
      !(renews && AGAINST_RENEWAL.test(after)),
  );
}

function fits({ before, after }: Duration): boolean {
  return NOTICE_AFTER.test(after) || NOTICE_BEFORE.test(before);
}

/** The period of notice. */
function notice({ plain, match }: Found) {
  const found = candidates(plain.slice(Math.max(0, match.index - 200))).find(fits);
  return found === undefined ? null : { ...stated(found), choice: 'convenience' };
}

/** The period in which a breach can be cured: the one beside the cure, else the one of the notice. */
function cure({ plain }: Found) {
  const all = candidates(plain);
  const found =
    all.find(({ before, after }) => CURE.test(`${before.slice(-80)} ${after.slice(0, 80)}`)) ?? all.find(fits);
  if (found !== undefined) return { ...stated(found), choice: 'cure' };
  return isBlank(plain) && /\bperiod of\b|\bwithin\b/i.test(plain) ? { basis: 'blank' as const, choice: 'cure' } : null;
}

/** What is not cured must end something: a lender's events of default end nothing. */
const ENDS = /\bterminat\w+|\bcancel\w*|\bgood reason\b/i;

const immediately = () => ({ value: '0', unit: 'days' as const, basis: 'stated' as const, choice: 'convenience' });

const NOT_THIS =
  /\binsur\w+|\bpolicy\b|\brevo(?:ke|cation)\b|\brescind|\b(?:stock )?options?\b[^;]{0,80}\bexercis|\bCOBRA\b|\btermination of (?:the )?(?:trust|plan|commitments?)\b/i;

/** What goes on after the end has no notice of its own. */
const AFTERWARDS = new RegExp(
  String.raw`${NOT_THIS.source}|^.{0,60}\b(?:upon|following|after) (?:the )?(?:termination|expiration)\b`,
  'i',
);

const BREACH =
  /\bbreach\w*|\bdefault\w*|\bfail\w*|\bcur(?:e|ed|ing)\b|\bremed(?:y|ied)\b|\bviolat\w+|\bcause\b|\bgood reason\b/i;

/** "on ninety days' notice, or at once if the other party fails to cure": the first period needs no breach. */
function isForBreach(plain: string): boolean {
  const first = candidates(plain).find(fits);
  const free = first !== undefined && !BREACH.test(first.before) && !/^[^,;]{0,80}\bif\b/i.test(first.after);
  return !free && BREACH.test(plain);
}

function withScore(read: Partial<Hit> | null, score: number): Partial<Hit> | null {
  return read === null ? null : { ...read, score };
}

const en = byCases(
  [
    {
      says: /\bterminat(?:e|ed|es|ion)\b[^;]{0,240}\b(?:without cause|for any (?:or no )?reason|at any time|for (?:its )?convenience|with or without (?:cause|reason)|at will|without (?:any )?(?:reason|penalty)|for no reason)\b|\b(?:without cause|for any reason|at any time|for (?:its )?convenience|at will|with or without)\b[^;]{0,120}\bterminat(?:e|ed|es|ion)\b/i,
      not: AFTERWARDS,
      score: 10,
      // "at any time … if the other party has breached": the time is for the breach.
      read: (found) =>
        /\bif\b[^;]{0,120}\b(?:breach\w*|default\w*|fail\w*)\b/i.test(found.plain)
          ? withScore(cure(found), 7)
          : notice(found),
    },
    {
      says: /\b(?:may|can|right to|entitled to|option to)\b[^;]{0,80}\b(?:terminate|cancel|end (?:this|the))\b[^;]{0,240}\bnotice\b|\b(?:terminated|cancell?ed)\b[^;]{0,120}\b(?:upon|by|on|with)\b[^;]{0,100}\bnotice\b|\bnotice of (?:termination|cancellation|intent(?:ion)? to terminate)\b|\b(?:may|right)\b[^;]{0,60}\b(?:upon|by|on|with|after)\b[^;]{0,100}\bnotice\b[^;]{0,100}\b(?:terminate|cancel)\b|\bto terminate\b[^;]{0,80}\b(?:must|shall|will)\b[^;]{0,40}\b(?:give|provide)\b[^;]{0,60}\bnotice\b|\btermination\b[^;]{0,80}\b(?:requires?|upon|by|on)\b[^;]{0,60}\bnotice\b/i,
      not: NOT_THIS,
      score: 8,
      read: (found) => {
        const breach = isForBreach(found.plain);
        const read = breach ? cure(found) : notice(found);
        if (read !== null) return breach ? { ...read, score: 7 } : read;
        return null;
      },
    },
    {
      says: /\b(?:cur(?:e|ed|ing)|put right|made good|remed(?:y|ied)|rectif\w+|correct(?:ed)?|uncorrected|uncured|unremedied)\b/i,
      not: /\binsur\w+|\bwarrant\w+ (?:that|period)|\bbug|\berrors? in\b|\bdefects? in\b|\bsoftware error/i,
      score: 6,
      read: (found) =>
        ENDS.test([found.plain, found.sentence.heading, ...found.next.map(({ plain }) => plain)].join(' ')) &&
        /\bnotice\b|\bnotif|\bbreach|\bday\b/i.test(found.plain)
          ? cure(found)
          : null,
    },
    {
      says: /\bterminat(?:e|ed)\b[^;]{0,120}\b(?:immediately|forthwith|effective immediately)\b[^;]{0,60}\b(?:notice|upon)\b|\b(?:immediately|forthwith)\b[^;]{0,30}\bterminat(?:e|ed)\b[^;]{0,80}\bnotice\b/i,
      not: NOT_THIS,
      score: 3,
      read: immediately,
    },
    {
      // By notice, and no period named: at once. What the notice is for (a breach, any reason) changes nothing in that.
      says: /\b(?:may|can|right to|entitled to|option to)\b[^;]{0,60}\bterminate\b[^;]{0,160}\b(?:upon|by|on|with|after)\b[^;]{0,40}\bnotice\b/i,
      not: NOT_THIS,
      score: 2,
      read: ({ plain }) =>
        candidates(plain).length > 0 || isBlank(plain) || /\bcur(?:e|ed|ing)\b|\bremed/i.test(plain)
          ? null
          : immediately(),
    },
    {
      says: /\bterminat\w+\b[^;]{0,240}\b(?:for convenience|at any time)\b[^;]{0,120}\bupon (?:\w+ )?written notice\b|\b(?:at any time|for convenience)\b[^;]{0,200}\bterminat\w+[^;]{0,120}\bupon (?:\w+ )?written notice\b/i,
      not: NOT_THIS,
      score: 9,
      read: ({ plain, next }) =>
        durationsOf(plain).some(fits) ||
        !/\bimmediate|\bupon (?:\w+ )?written notice\b/i.test(`${plain} ${next[0]?.plain ?? ''}`)
          ? null
          : immediately(),
    },
  ],
  /\bterminat|\bcancel|\bdefault/i,
);

/** "60 days after termination the customer returns …": no notice. */
function aboutNotice(rule: KindRules['en']): KindRules['en'] {
  return (sentence, next) => {
    const hit = rule(sentence, next);
    if (hit === null) return null;
    const { plain } = sentence;
    return PAYMENT.test(plain) && !/\bnotice\b|\bcure\w*\b|\bremed|\bcorrect/i.test(plain) ? null : hit;
  };
}

const OTHER_ZH = /(?:续|到期|届满|期满|付款|支付|保密|质保|返还|退还|交还)[^。;,]{0,12}$/;
const zh = byCases(
  [
    {
      says: /(?:提前|须?于?[^。;,]{0,12}前|至少)[^。;]{0,40}通知[^。;]{0,60}(?:解除|终止|取消|退出)|(?:解除|终止|取消|退租|提前收回)[^。;]{0,60}(?:提前|至少)[^。;]{0,40}(?:通知|告知)/,
      // Notice after a breach that was not cured is the notice of that right, not one for convenience.
      not: /续签|续期|续约|续展|保险|顺延|违约[^。]{0,60}(?:未|仍)(?:未|能)?(?:予以)?(?:纠正|改正|补救|整改)/,
      score: 10,
      read: ({ plain }) => {
        const found = durationsOf(plain, 40).find(
          ({ before, after, unit }) =>
            unit !== 'years' &&
            !OTHER_ZH.test(before) &&
            (/(?:提前|至少|不少于|前)[^。;,]{0,12}$/.test(before) ||
              /^(?:前|以前|之前|的?(?:书面)?通知|书面|向|以)/.test(after)),
        );
        if (found !== undefined) return { ...stated(found), choice: 'convenience' };
        return /(?:提前|至少)_{2,}/.test(plain) ? { basis: 'blank' } : null;
      },
    },
    {
      says: /(?:收到|接到|接获|发出|催告|通知)[^。;]{0,60}(?:纠正|改正|补救|履行|整改|更正|补正|消除|弥补)[^。;]{0,80}(?:解除|终止)|(?:解除|终止)[^。;]{0,120}(?:收到|接到|通知|催告)[^。;]{0,60}(?:纠正|改正|补救|履行|整改|更正|补正|弥补)/,
      score: 7,
      read: ({ plain }) => {
        const found = durationsOf(plain, 60).find(
          ({ before, after }) =>
            /(?:后|起|之日起|在|于|的|宽限期)[^。;,]{0,6}$/.test(before) || /^(?:之?内|以内|仍|未|的?宽限)/.test(after),
        );
        return found === undefined ? null : { ...stated(found), choice: 'cure' };
      },
    },
    {
      says: /(?:立即|随时|即时)[^。;]{0,20}(?:书面)?(?:通知)?[^。;]{0,20}(?:解除|终止)(?:本)?(?:合同|协议)|(?:逾期|超过|迟延|延迟)[^。;]{0,40}(?:有权|可以?)(?:单方)?(?:解除|终止)/,
      score: 3,
      read: ({ plain }) => {
        if (/立即|随时|即时/.test(plain)) return { value: '0', unit: 'days', basis: 'stated', choice: 'convenience' };
        const found = durationsOf(plain, 30).find(({ before }) => /(?:逾期|超过|迟延|延迟)[^。;,]{0,10}$/.test(before));
        return found === undefined ? null : { ...stated(found), choice: 'cure' };
      },
    },
  ],
  /解除|终止/,
);

/** How long before the end a party must be told, or may still cure; `choice` says which of the two. */
export const terminationNotice: KindRules = {
  kind: 'termination_notice',
  about: /terminat|cancel|\bend (?:this|the)\b|put right|made good|cure|cured|remed|correct|解除|终止|退出|退租|收回/i,
  en: aboutNotice(en),
  zh,
};
