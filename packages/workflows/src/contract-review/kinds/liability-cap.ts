import { findQuantities } from '@cleanslate/domain';
import { type ClauseRule, EMPTY_READING, type Hit, isBlank, type KindRules } from '../rule.ts';

/** How one language measures a ceiling that no number names. */
interface Measures {
  /** The greater of several things. */
  readonly several: RegExp;
  readonly times: readonly (readonly [RegExp, string])[];
  /** The fees, the price. */
  readonly fees: RegExp;
  /** Those of a period only. */
  readonly period: RegExp;
  readonly feesWithin: number;
}

/** What the ceiling is: a formula, a multiple, a share, a sum, a blank, or the fees. */
function ceilingOf(object: string, measures: Measures): Hit | null {
  if (measures.several.test(object)) return { ...EMPTY_READING, basis: 'formula', score: 10 };
  const quantities = findQuantities(object);
  const multiple =
    quantities.find(({ unit }) => unit === 'multiple') ??
    quantities.find(({ unit, span }) => unit === 'number' && /^ ?x\b/i.test(object.slice(span.end)));
  const times = multiple?.value ?? measures.times.find(([word]) => word.test(object))?.[1];
  if (times !== undefined)
    return { ...EMPTY_READING, value: times, unit: 'multiple', basis: 'multiple_of_fees', score: 10 };
  const percent = quantities.find(({ unit, per }) => unit === 'percent' && per === undefined);
  if (percent !== undefined)
    return { ...EMPTY_READING, value: percent.value, unit: 'percent', basis: 'percent_of_price', score: 10 };
  const amount = quantities.find(({ unit }) => unit === 'amount');
  if (amount !== undefined) {
    const notes = amount.conflict === undefined ? [] : (['numbers_disagree'] as const);
    const { value, currency } = amount;
    return {
      ...EMPTY_READING,
      value,
      unit: 'amount',
      currency: currency ?? null,
      basis: 'fixed_amount',
      notes,
      score: 10,
    };
  }
  if (isBlank(object)) return { ...EMPTY_READING, basis: 'blank', score: 8 };
  if (!measures.fees.test(object.slice(0, measures.feesWithin))) return null;
  const notes = measures.period.test(object) ? (['fees_of_a_period'] as const) : [];
  return { ...EMPTY_READING, basis: 'fees_paid', notes, score: 10 };
}

const exclusion: Hit = { ...EMPTY_READING, basis: 'exclusion_only', score: 4 };

// English

const SUBJECT = /\b(?:liabilit(?:y|ies)|liable|damages|indemnity|recover(?:y|able)?)\b/i;
const LIMIT =
  /\b(?:exceed(?:s|ing|ed)?|in excess of|limited (?:\w+ ){0,3}(?:to|by)|limit(?:s|ing)? (?:\w+ ){0,4}to|capped (?:at|to)|cap(?:ped)? (?:of|at)|greater than|more than|maximum (?:aggregate |total |cumulative )?(?:liability|indemnity|amount)(?: \w+){0,12} (?:is|shall be|will be|equals)|maximum (?:aggregate |total )?liability of|up to (?:a maximum of|an aggregate))\b/i;
const NEGATION =
  /\b(?:not|no event|no circumstances?|never|neither|nor|no|limited|capped|maximum|only|entitled to any)\b/i;
const DAMAGES_KIND =
  /\b(?:consequential|incidental|indirect|special|punitive|exemplary)\b[^.;]{0,140}\b(?:damages?|loss(?:es)?|costs?|liabilit(?:y|ies)|nature)\b|\bdamages?\b[^.;]{0,60}\b(?:consequential|incidental|indirect|special|punitive)\b|\b(?:lost|loss of) (?:\w+ ){0,2}(?:profits?|revenues?|income|business|use|goodwill)\b|\bliabilit(?:y|ies)\b[^.;]{0,60}\b(?:consequential|incidental|indirect)\b/i;
const NO_LIABILITY = /\b(?:no event|not|neither|nor|no|never|disclaims?|waives?|waiver|excludes?|excluded)\b/i;
/** An insurer's limit, a debtor's debts and a definition are no cap. */
const FOREIGN =
  /\b(?:insurance|insured|insurer|coverage|per occurrence|polic(?:y|ies) of|deductible|indebtedness|borrowings?|capital expenditures?|letters? of credit|net worth|total liabilities|ratio|arbitrators?)\b/i;
const DEFINITION = /^(?:\S{1,6} )?"[^"]{3,60}" (?:shall )?(?:means?|includes?)\b/i;
/** A ceiling on liquidated damages bounds that remedy alone. */
const PENALTY_CEILING = /\bliquidated damages\b[^.;]{0,80}\b(?:exceed|limited to|capped|maximum)\b/i;
const BY_REFERENCE =
  /\blimitations? (?:of|on) liability\b.{0,100}\b(?:of|in) the \w+ agreement\b.{0,80}\b(?:incorporated|appl(?:y|ies))\b/i;
const EN: Measures = {
  several: /\b(?:greater|lesser|higher|lower|larger|smaller) of\b|\bwhichever is\b/i,
  times: [
    [/\b(?:twice|double)\b/i, '2'],
    [/\btriple\b/i, '3'],
  ],
  fees: /\b(?:amounts?|fees?|sums?|price|consideration|payments?|royalt(?:y|ies)|compensation|contract (?:price|sum|value)|proceeds|premiums?|value)\b/i,
  period:
    /\b(?:in|during|for|over|within|throughout)\b[^.;]{0,40}\b(?:months?|years?|quarters?|weeks?|period)\b|\b(?:monthly|annual|quarterly|yearly)\b|\b(?:months?|years?) (?:preceding|before|prior)\b/i,
  feesWithin: 160,
};

/** A ceiling on one indemnity or one product's claims is not the ceiling on what a party owes. */
const PARTIAL =
  /\b(?:indemnity|covered by this section|claims? (?:made )?under this section|third[- ]party software)\b/i;

function capEn(plain: string): Hit | null {
  const subject = SUBJECT.exec(plain);
  if (subject === null) return null;
  // "the maximum aggregate liability" begins before its subject.
  const from = Math.max(0, subject.index - 30);
  const rest = plain.slice(from);
  let best: Hit | null = null;
  for (const limit of rest.matchAll(new RegExp(LIMIT.source, 'gi'))) {
    const before = plain.slice(0, from + limit.index + limit[0].length);
    // A basket ("not liable until losses exceed") is a floor, not a ceiling.
    if (!NEGATION.test(before) || /\b(?:until|unless|only if)\b[^.;]{0,80}$/i.test(before)) continue;
    const object = rest.slice(limit.index + limit[0].length).slice(0, 320);
    const hit = ceilingOf(object, EN);
    // "limited to the re-performance of the service" limits the remedy, not the sum.
    if (hit === null || /^(?: \w+){0,3} (?:re-?performance|repair|replacement|correction)/i.test(object)) continue;
    if (best === null || hit.score > best.score) best = hit;
  }
  if (best === null) return null;
  const whole = /\b(?:total|aggregate|entire|cumulative|maximum|overall|liability under this)\b/i.test(plain) ? 3 : 0;
  return { ...best, score: best.score + whole + (PARTIAL.test(plain) ? -7 : 0) };
}

const en: ClauseRule = ({ plain: raw }) => {
  const plain = raw
    .replace(/\blimited liability (?:company|partnership)\b/gi, 'company')
    .replace(/\b(?:but |and )?(?:not|without)(?: \w+)? limit(?:ed|ation)(?: to)?\b/gi, 'also');
  if (FOREIGN.test(plain) || DEFINITION.test(plain)) return null;
  const cap = PENALTY_CEILING.test(plain) && !/\b(?:total|aggregate) liability\b/i.test(plain) ? null : capEn(plain);
  if (cap !== null) return cap;
  if (BY_REFERENCE.test(plain)) return { ...EMPTY_READING, basis: 'reference', score: 6 };
  const excludes =
    DAMAGES_KIND.test(plain) && NO_LIABILITY.test(plain) && /\b(?:liab\w+|responsible|damages|waive\w*)\b/i.test(plain);
  return excludes ? exclusion : null;
};

// Chinese

const LIMIT_ZH =
  /不(?:应|得|会)?(?:超过|超出|高于|多于)|以[^。;,]{1,40}为(?:限|上限)|为(?:上|最高)限|上限(?:为|是|不)|最高(?:不超过|限额为|额为|为)|限额(?:为|是|:)|限于|仅限于/;
const SUBJECT_ZH =
  /(?:赔偿|责任|损失)(?:[^。;]{0,60}?)(?:总额|总和|金额|数额|限额|上限|累计|合计|最高|总计|责任|限|超过|超出|为限)/;
/** A ceiling on 违约金 alone, an insurer's limit, or a share of a company is no cap on what a party owes. */
const FOREIGN_ZH = /保险|保单|投保|注册资本|出资额|股东以|有限责任公司以|车船/;
const DAMAGES_KIND_ZH =
  /间接(?:的|性)?(?:损失|损害|经济损失)|间接(?:的|性)?[、,或和及与][^。;]{0,20}(?:损失|损害)|可得利益|预期利益|利润(?:的)?损失|后果性|附带(?:性)?(?:损失|损害)|惩罚性(?:赔偿|损害)|特殊(?:的)?(?:损失|损害)|商誉(?:的)?损失/;
const NO_LIABILITY_ZH =
  /(?:不|均不|无需|无须|不应|概不|不予|免于|排除)(?:对[^。;]{0,60})?[^。;]{0,20}(?:承担|负责|负有|赔偿|责任)|不(?:对|就)[^。;]{1,80}(?:承担|负责|负)|不包括/;
const ZH: Measures = {
  several: /(?:较高|较低|孰高|孰低|较大|较小)者?/,
  times: [],
  fees: /(?:已|实际|所|应)?(?:支付|收取|收到|付)(?:的)?[^。;,]{0,20}(?:金额|款|费)|合同(?:总)?(?:价款|金额|总额|价)|(?:服务|许可|使用|年)费|货款/,
  period: /(?:上|当|前|近|过去|此前|最近)[^。;]{0,12}(?:月|年|季度)|(?:个月|年度?|季度)(?:内|期间)/,
  feesWithin: 160,
};

function capZh(plain: string): Hit | null {
  const limit = LIMIT_ZH.exec(plain);
  if (limit === null || !SUBJECT_ZH.test(plain)) return null;
  // The measure stands after 不超过, or inside 以……为限.
  const hit = ceilingOf(plain.slice(limit.index).slice(0, 160), ZH);
  if (hit === null) return null;
  const aboutPenalty =
    /违约金[^。;]{0,24}(?:不超过|不得超过|上限|最高)/.test(plain) &&
    !/(?:赔偿|责任)[^。;]{0,30}(?:不超过|不得超过|上限|最高|为限)/.test(plain);
  if (aboutPenalty) return null;
  return { ...hit, score: hit.score + (/总额|累计|合计|全部|总计|最高|总和|整体/.test(plain) ? 3 : 0) };
}

const zh: ClauseRule = ({ plain }) => {
  if (FOREIGN_ZH.test(plain)) return null;
  return capZh(plain) ?? (DAMAGES_KIND_ZH.test(plain) && NO_LIABILITY_ZH.test(plain) ? exclusion : null);
};

/** A ceiling on what a party can owe, or kinds of damages that nobody owes. */
export const liabilityCap: KindRules = {
  kind: 'liability_cap',
  about: /liab|damages|loss|indemnity|recover|profits|责任|赔偿|损失|损害/i,
  en,
  zh,
};
