import { byCases, type KindRules } from '../rule.ts';

const arbitration = () => ({ choice: 'arbitration' });
const courts = () => ({ choice: 'courts' });
const negotiation = () => ({ choice: 'negotiation' });

const en = byCases(
  [
    {
      says: /\b(?:disput|controvers|claim|disagreement|difference|matter|question|issue)\w*\b[^;]{0,320}\b(?:arbitrat(?:ion|ed|ors?)|arbitral)\b|\barbitrat(?:ion|ed|ors?)\b[^;]{0,200}\b(?:disput|controvers|claim|disagreement)\w*/i,
      not: /\b(?:judgments?|orders?|awards?|decrees?)\b[^;]{0,80}\b(?:of|by) any\b|\bno (?:\w+ ){0,4}(?:pending|threatened)\b|\bpending or threatened\b|\barbitration (?:proceedings? )?(?:pending|commenced against|threatened)|\b(?:pending|threatened)\b[^;]{0,60}\barbitration|\bnot (?:be )?(?:subject to|required to|obligat\w+ to) arbitrat/i,
      score: 10,
      read: arbitration,
    },
    {
      says: /\b(?:settled|resolved|determined|decided|submitted|referred|subject)\b[^;]{0,60}\b(?:by|to|through|in)\b[^;]{0,40}\barbitrat(?:ion|ors?)\b|\bagree(?:s|d)? to (?:\w+ ){0,2}arbitrat/i,
      score: 9,
      read: arbitration,
    },
    {
      says: /\bsubmits?\b[^;]{0,120}\bjurisdiction\b|\bsubmits? to the (?:\w+ ){0,3}courts? (?:of|in|at)\b|\b(?:exclusive|non-?exclusive|sole|personal)\b[^;]{0,60}\b(?:jurisdiction|venue|forum)\b|\bconsents?\b[^;]{0,80}\b(?:jurisdiction|venue)\b|\b(?:jurisdiction|venue)\b[^;]{0,100}\b(?:shall (?:be|lie)|will (?:be|lie)|is|lies|be proper|exclusively)\b[^;]{0,60}\b(?:in|of|with)\b/i,
      not: /\bexclusive (?:jurisdiction )?territor|\bsubject matter jurisdiction over\b|\bany jurisdiction shall\b|\bin any jurisdiction\b[^;]{0,80}\b(?:invalid|unenforceab|ineffective)/i,
      score: 8,
      read: ({ plain }) => (/\bcourts?\b|\bcounty\b|\bvenue\b|\bforum\b|\bdistrict\b/i.test(plain) ? courts() : null),
    },
    {
      says: /\b(?:actions?|suits?|proceedings?|litigation|disputes?|claims?)\b[^;]{0,140}\b(?:shall|must|will|may|agrees? to|to)(?: only)? be (?:\w+ )?(?:brought|instituted|commenced|filed|maintained|litigated|tried|heard|venued|resolved)\b[^;]{0,120}\bcourts?\b/i,
      not: /\bcourts? (?:of|having) competent jurisdiction\b(?![^;]{0,40}\b(?:in|located)\b)/i,
      score: 8,
      read: courts,
    },
    {
      says: /\b(?:disput|controvers|claim|action|suit|proceeding)\w*\b[^;]{0,240}\bjurisdiction of\b[^;]{0,80}\bcourts?\b/i,
      not: /\bsubject matter jurisdiction\b/i,
      score: 7,
      read: courts,
    },
    {
      // Another document says how.
      says: /\bdisputes?\b[^;]{0,120}\b(?:resolved|settled|handled|determined|decided|governed)\b[^;]{0,40}\b(?:in accordance with|pursuant to|as (?:set forth|provided) in|under|by)\b[^;]{0,30}\b(?:article|section|exhibit|schedule|annex|appendix|provisions|procedures?)\b/i,
      score: 4,
      read: () => ({ basis: 'reference' }),
    },
    {
      says: /\bdisputes?\b[^;]{0,120}\b(?:address|settl|resolv|handl|discuss)\w*\b[^;]{0,40}\b(?:through|by|via|in)\b[^;]{0,30}\b(?:discussions?|negotiat\w+|consultations?)\b/i,
      score: 6,
      read: negotiation,
    },
    {
      says: /\bdisputes?\b[^;]{0,200}\b(?:mediat\w+|good[- ]faith (?:negotiat\w+|discussions?)|escalat\w+|settled? (?:by|through) (?:negotiation|consultation)|dispute resolution (?:board|procedure))\b|\b(?:settle|resolve)[^;]{0,40}\bdisputes?\b[^;]{0,80}\b(?:negotiat|consult|mediat)\w*/i,
      not: /\bbona fide disputes?\b|\binvoice\b/i,
      score: 6,
      read: negotiation,
    },
  ],
  /\b(?:arbitration|disputes?|jurisdiction|venue|forum)\b/i,
);

/** Whichever court decides that a provision is void has not been agreed on. */
function agreedOn(rule: KindRules['en']): KindRules['en'] {
  return (sentence, next) => {
    const plain = sentence.plain.replace(
      /\b(court|tribunal)s?(?: or \w+)? (?:of|having) (?:\w+ )?(?:competent )?jurisdiction\b/gi,
      '$1',
    );
    return rule({ ...sentence, plain }, next);
  };
}

const zh = byCases(
  [
    {
      says: /(?:提交|申请|交由|提请|通过|以|由|向)[^。;]{0,40}仲裁(?!员|庭|裁决)/,
      not: /劳动争议[^。;]{0,10}不[^。;]{0,6}仲裁|(?:未|不存在)[^。;]{0,30}仲裁/,
      score: 10,
      read: () => ({ choice: 'arbitration' }),
    },
    {
      says: /(?:向|由|提交|提请)[^。;]{0,40}法院[^。;]{0,14}(?:诉讼|起诉|管辖|裁判|判决|解决|裁决|审理)|法院(?:享有|具有|拥有)[^。;]{0,8}管辖权|向[^。;]{0,40}法院(?:提起|起诉|提出)/,
      not: /(?:不存在|没有|未(?!果|能|达成|成))[^。;]{0,30}(?:诉讼|法院)|向[^。;]{0,20}法院申请(?:强制执行|财产保全|支付令)|被(?!告)[^。;]{0,10}法院/,
      score: 9,
      read: () => ({ choice: 'courts' }),
    },
    {
      says: /(?:争议|纠纷|分歧|争端)[^。;]{0,60}(?:友好)?(?:协商|调解)[^。;]{0,12}(?:解决|处理|不成)/,
      not: /质量(?:有)?争议[^。;]{0,20}检/,
      score: 6,
      read: () => ({ choice: 'negotiation' }),
    },
  ],
  /争议|纠纷|管辖/,
);

/** How and where disputes are decided; `choice` is arbitration, courts or negotiation. */
export const disputeResolution: KindRules = {
  kind: 'dispute_resolution',
  about: /arbitra|jurisdiction|venue|courts?\b|disput|mediat|仲裁|法院|争议|纠纷|争端|分歧/i,
  en: agreedOn(en),
  zh,
};
