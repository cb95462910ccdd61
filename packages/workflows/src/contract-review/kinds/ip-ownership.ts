import { byCases, type Found, type KindRules } from '../rule.ts';

const WORK =
  '(?:software|programs?|source code|object code|code|documentation|licensed (?:\\w+ )?(?:programs?|products?|materials?|technology|software|property)|intellectual property|copyrights?|patents?|inventions?|work products?|works? of authorship|deliverables?|developments?|improvements?|enhancements?|modifications?|derivative works?|discoveries|ideas|technology|proprietary rights|trademarks?|know-how|designs?|drawings)';

/**
 * A party as contracts name it: one to three words with capitals, none of which begins a sentence about something else.
 */
const PARTY =
  "((?!(?:All|Any|Each|Either|Every|Neither|No|Such|The|This|That|These|Those|Title|Ownership|It|They|Both|Parties|Party|Intellectual|Rights?|Except|Subject|Section|Article|Exhibit|Agreement|Affiliates?|Licensors|Suppliers|Work|Works|Product|Products|Inventions?|Software|Programs?|Licensed|Documentation|Deliverables?|Confidential|Copyrights?|Patents?)\\b)[A-Z][\\w&'-]*(?: (?!and\\b|or\\b)[A-Z][\\w&'-]*){0,2})";
const OWNERS: readonly RegExp[] = [
  /\bproperty of (?:the )?([A-Z][\w&' -]{1,40}?)(?=[,.;()]| and\b| or\b| whether\b|$)/,
  new RegExp(
    String.raw`\b(?:owned (?:\w+ly )?by|belongs? (?:\w+ly )?to|vests? (?:\w+ly )?in|vested in|remains? (?:\w+ly )?(?:with|in))(?: the)? ${PARTY}`,
  ),
  new RegExp(String.raw`\bassigns? (?:and (?:transfers?|conveys?) )?to (?:the )?${PARTY}`),
  new RegExp(
    String.raw`\b${PARTY}(?:,? (?:and|or) (?:its|their) (?:\w+ )?\w+){0,2} (?:(?:shall|will|hereby|exclusively|solely|expressly|alone|at all times) ){0,3}(?:owns?|retains?|reserves?|holds?)\b`,
  ),
];

/** Who it is, where the sentence names one: what somebody else may do with it says nothing of that. */
function owner({ plain, match }: Found) {
  const around = plain.slice(Math.max(0, match.index - 100), match.index + match[0].length + 80);
  for (const says of OWNERS) {
    const name = says.exec(around)?.[1];
    if (name !== undefined) return { choice: name };
  }
  return { choice: null };
}

/** Secrets kept by a party say who knows them, not who owns what is made. */
const NOT_WORK =
  /\b(?:advance|borrower|lender|stock|shares?|securities|real property|premises|collateral|mortgage|lien|equipment|vehicles?|inventory|pipeline|title insurance|partnership interest)\b/i;

const en = byCases(
  [
    {
      says: new RegExp(
        String.raw`\b(?:retains?|reserves?|owns?|own and retain|shall own|hold|holds|remains?|vests?|vested|belongs?|acquires?)\b[^;]{0,100}\b(?:rights?,? title,? (?:and|or|&) interests?|ownership|title|proprietary rights|intellectual property rights)\b[^;]{0,200}\b${WORK}\b`,
        'i',
      ),
      not: NOT_WORK,
      score: 10,
      read: owner,
    },
    {
      says: new RegExp(
        String.raw`\b(?:rights?,? title,? (?:and|or|&) interests?|ownership|title|intellectual property rights?|proprietary rights)\b[^;]{0,260}\b${WORK}\b[^;]{0,260}\b(?:retained?|reserved?|owned|remains?|vests?|vested|belongs?|property of)\b`,
        'i',
      ),
      not: NOT_WORK,
      score: 10,
      read: owner,
    },
    {
      says: new RegExp(
        String.raw`\b${WORK}\b[^;]{0,400}\b(?:is|are|be|becomes?|remains?|constitutes?)\b[^;]{0,60}\b(?:sole|exclusive|proprietary)?\b[^;]{0,40}\bproperty of\b`,
        'i',
      ),
      not: NOT_WORK,
      score: 9,
      read: owner,
    },
    {
      // What it is a right to needs no word of its own: "all intellectual property rights in the Services".
      says: /\b(?:retains?|reserves?|owns?|holds?|keeps?|remains?)\b[^;]{0,60}\b(?:intellectual property|proprietary|IP) rights?\b|\b(?:intellectual property|proprietary|IP) rights?\b[^;]{0,120}\b(?:remains?|is|are|be) (?:the )?(?:\w+ ){0,3}property\b/i,
      not: NOT_WORK,
      score: 7,
      read: owner,
    },
    {
      says: /\b(?:assigns?|agrees? to assign|shall assign|will assign)\b[^;]{0,140}\b(?:inventions?|work products?|copyrights?|patents?|developments?|improvements?|discoveries)\b|\bworks? (?:made )?for hire\b/i,
      not: /\bnot assign\b/i,
      score: 8,
      read: owner,
    },
    {
      says: new RegExp(
        String.raw`\b(?:shall|will|does|do)? ?(?:exclusively |solely |not )?(?:owns?|be owned|is owned|are owned)\b[^;]{0,120}\b${WORK}\b|\b${WORK}\b[^;]{0,120}\b(?:shall be|is|are|will be) (?:\w+ )?owned\b`,
        'i',
      ),
      not: /\bown(?:s|ed)?\b[^;]{0,30}\b(?:stock|shares?|percent|subsidiar|business|equipment|real|premises|interest in any)|\b(?:it'?s|his|her|their|your) own\b|\bwholly[- ]owned\b|\bcompet|\b(?:advance|borrower|lender|mortgage)\b/i,
      score: 6,
      read: owner,
    },
    {
      says: /\b(?:inventions?|discoveries|improvements|work products?)\b[^;]{0,240}\b(?:belong|exclusive property|sole property|property of)\b/i,
      score: 9,
      read: owner,
    },
  ],
  /\b(?:ownership|intellectual property|proprietary rights?|title|inventions|work product)\b/i,
);

const NOTICES =
  /\bnot be construed\b|\b(?:remove|alter|obscure|conceal|delete|reproduce|include|affix)\w*\b[^;]{0,160}\bnotices?\b|\binfring\w+\b[^;]{0,200}\b(?:indemnif|defend|claim)/i;

/**
 * "Confidential information is the company's property": a rule on secrets. Only what
 * somebody makes can set who owns it.
 */
function madeWork(rule: KindRules['en']): KindRules['en'] {
  return (sentence, next) => {
    const plain = sentence.plain.replace(
      /\b(?:confidential|proprietary|business|customer|secret)(?: and \w+)? (?:information|data|materials?|records)\b/gi,
      'secrets',
    );
    const hit = NOTICES.test(plain) ? null : rule({ ...sentence, plain }, next);
    if (hit === null) return null;
    return /\bsecrets\b/.test(plain) &&
      !/\b(?:software|program|invention|work product|copyright|patent|title|intellectual|improvement|discover)/i.test(
        plain,
      )
      ? null
      : hit;
  };
}

const RIGHT = '(?:知识产权|著作权|版权|专利(?:申请)?权|技术成果|研发成果|工作成果|开发成果|软件|源代码|成果)';
const zh = byCases(
  [
    {
      says: new RegExp(
        `${RIGHT}[^。;]{0,60}?(?:归(?!还)|属于|归属|为[^。;]{0,10}所有|由[^。;]{0,12}(?:享有|所有|拥有|单独享有))`,
      ),
      not: /侵犯[^。;]{0,30}(?:责任|赔偿)(?![^。;]{0,60}归)/,
      score: 10,
      read: ({ plain }) => ({
        choice:
          /(?:归|属于|归属(?:于)?|由)(甲方|乙方|双方|委托方|受托方|开发方|许可方|被许可方|用人单位|公司|员工|卖方|买方|发包人|承包人|设计人)/.exec(
            plain,
          )?.[1] ?? null,
      }),
    },
    {
      says: new RegExp(`(?:享有|拥有|保留)[^。;]{0,40}?${RIGHT}|${RIGHT}[^。;]{0,30}(?:归属|所有权)`),
      not: /保证[^。;]{0,30}(?:未侵犯|不侵犯)/,
      score: 7,
    },
  ],
  /知识产权|成果|著作权/,
);

/** Who owns what is made or licensed; `choice` names the owner where the sentence does. */
export const ipOwnership: KindRules = {
  kind: 'ip_ownership',
  about:
    /\btitle\b|ownership|property|\bown(?:s|ed)?\b|for hire|assigns?\b|proprietary|belong|产权|著作权|版权|专利|成果|源代码/i,
  en: madeWork(en),
  zh,
};
