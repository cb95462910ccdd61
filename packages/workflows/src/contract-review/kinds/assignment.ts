import { byCases, type Found, type KindRules } from '../rule.ts';

const OBJECT =
  '(?:agreements?|contracts?|licen[sc]es?|leases?|subleases?|rights?|obligations?|dut(?:y|ies)|interests?|benefits?|hereunder|hereof|herein|loan documents|notes?|payments?|amounts?|claims?|loans?|participations?)';
/** Other things that are assigned: tasks to a person, inventions to an employer, everything to creditors. */
const OTHER_ASSIGNMENT =
  /\btitle (?:insurance )?policy\b|\binsurable\b|\bconfidential information\b[^;]{0,160}\b(?:not|never)\b[^;]{0,40}\bassign\b|\bassignment for the benefit of (?:its |his |any |the )?creditors|\b(?:duties|responsibilities|tasks|position|office|personnel|staff|work)\b[^.;]{0,20}\b(?:as (?:may be )?)?(?:assigned|assign) to (?:him|her|employee|executive|the employee|the executive)\b|\bassign\w* (?:to (?:the )?(?:company|employer|licensor) )?(?:\w+ ){0,4}(?:inventions?|work product|patents?|copyrights?|developments)\b|\bhereby (?:\w+,? ){0,3}assigns?\b|\bassigned (?:duties|to (?:perform|work)|by the (?:company|board))\b/i;

const consent = () => ({ choice: 'consent_required' });

function prohibited({ plain, match }: Found) {
  const around = plain.slice(Math.max(0, match.index - 160), match.index + match[0].length + 260);
  return /\b(?:consent|approval|permission|authorization)\b|\bunless\b[^;]{0,60}\b(?:agrees?|consents?|approves?|permits?|allows?)\b/i.test(
    around,
  )
    ? consent()
    : { choice: 'prohibited' };
}

const en = byCases(
  [
    {
      says: new RegExp(
        String.raw`\b(?:not|neither|no|nor|never|cannot)\b[^;]{0,160}?\b(?:assign(?:s|ed|able)?|assignments?|delegate[ds]?)\b[^;]{0,140}?\b${OBJECT}\b`,
        'i',
      ),
      score: 9,
      read: prohibited,
    },
    {
      // "Neither party may assign without consent": what, goes without saying.
      says: /\b(?:not|neither|no|nor)\b[^;]{0,60}\bassign\b[^;]{0,30}\bwithout\b[^;]{0,80}\bconsent\b/i,
      score: 8,
      read: consent,
    },
    {
      says: /\b(?:not|neither|no|nor|never|cannot)\b[^;]{0,120}?\b(?:transfer(?:s|red)?|convey(?:ed)?)\b[^;]{0,80}?\b(?:this|the) (?:\w+ )?(?:agreement|contract|license|lease)\b/i,
      score: 7,
      read: prohibited,
    },
    {
      says: /\b(?:agreement|license|contract|lease|rights?|obligations?|interests?|benefits?)\b[^;]{0,120}?\b(?:(?:may|shall|can|will|is|are|be) (?:not|neither) (?:be )?|neither )(?:\w+,? ){0,4}(?:assign(?:ed|able)|transfer(?:red|able))\b/i,
      score: 9,
      read: prohibited,
    },
    {
      // A grant that calls itself non-transferable says less than a clause on assignment.
      says: /\b(?:license|agreement|rights?|lease)\b[^;]{0,120}?\bnon-? ?(?:assignable|transferable)\b|\bnon-? ?(?:assignable|transferable)\b[^;]{0,120}\b(?:license|rights?)\b/i,
      score: 4,
      read: prohibited,
    },
    {
      says: /\b(?:neither|no|nor|none of)\b[^;]{0,200}\b(?:agreement|rights?|interests?|obligations?|benefits?|payments?|amounts?)\b[^;]{0,160}\b(?:shall|may|can|will|is|are)\b[^;]{0,30}\b(?:assign(?:ed|able)|delegated|transferable)\b/i,
      score: 9,
      read: prohibited,
    },
    {
      says: /\bnot\b[^;]{0,60}\b(?:sublicense|sell|rent|lease|lend|transfer)\b[^;]{0,60}\bassign\b|\bnot\b[^;]{0,60}\bassign\b[^;]{0,80}\b(?:sublicense|transfer)\b/i,
      score: 7,
      read: prohibited,
    },
    {
      says: new RegExp(
        String.raw`\b(?:may|shall (?:be entitled|have the right) to|is (?:entitled|permitted) to|can|has the right to|right to)\b[^;]{0,80}?\bassign(?:ed|s)?\b[^;]{0,100}?\b${OBJECT}\b|\b(?:agreement|rights?|obligations?)\b[^;]{0,60}\bmay (?:\w+ )?be (?:\w+ )?assigned\b|\bfreely assign`,
        'i',
      ),
      score: 7,
      read: ({ plain }) =>
        /\b(?:only )?with (?:the )?(?:\w+ )?(?:prior )?(?:written )?consent|without (?:the )?(?:\w+ ){0,3}consent of\b/i.test(
          plain,
        ) && /\bnot\b|\bonly\b/i.test(plain)
          ? consent()
          : { choice: 'free' },
    },
    {
      says: /\b(?:any|attempted|purported|unauthorized)\b[^;]{0,60}\bassignment\b[^;]{0,120}\b(?:void|null|invalid|no effect|prohibited|breach|consent)\b|\bassignment\b[^;]{0,80}\b(?:requires?|subject to|without)\b[^;]{0,60}\bconsent\b/i,
      score: 5,
      read: consent,
    },
  ],
  /\bassign(?:ment|ability|s)?\b/i,
);

function withoutOthers(rule: KindRules['en']): KindRules['en'] {
  return (sentence, next) => {
    const plain = sentence.plain
      .replace(
        /\b(?:successors?|heirs?|legal representatives?|executors?|administrators?|permitted)(?:,? (?:and|or|and\/or))?,? (?:permitted )?assigns?\b/gi,
        'successors',
      )
      .replace(/\bassigns? and (?:all )?transferees?\b/gi, 'successors');
    return !/\bassign|\btransfer|\bdelegat/i.test(plain) || OTHER_ASSIGNMENT.test(plain)
      ? null
      : rule({ ...sentence, plain }, next);
  };
}

const zh = byCases(
  [
    {
      says: /(?:不得|不可|不能|无权|禁止)[^。;]{0,50}?(?:转让|转移|让与|转包)/,
      not: /商标|(?:转让|转移)(?:其|该)?(?:账号|账户|股权|股份)|(?:股权|股份|技术秘密|密码|账号|账户)[^。;]{0,12}(?:转让|转移)/,
      score: 9,
      read: ({ plain }) => ({
        choice: /同意|批准|认可|允许|(?:书面|事先|经)[^。;]{0,10}许可/.test(plain) ? 'consent_required' : 'prohibited',
      }),
    },
    {
      says: /(?:未经|未取得|未得到|非经|应(?:当)?(?:事先)?(?:征得|取得|经))[^。;]{0,50}?(?:同意|许可|批准)[^。;]{0,60}?(?:转让|转移|让与|转包)|(?:转让|转移|让与)[^。;]{0,60}(?:须|应|需)[^。;]{0,24}(?:同意|许可|批准)/,
      not: /股权|股份|账号|账户/,
      score: 9,
      read: () => ({ choice: 'consent_required' }),
    },
    {
      says: /(?:有权|可以|可)(?:[^。;不]{0,40}?)(?:将|对)?[^。;不]{0,30}(?:转让|让与)(?:给|予)?/,
      not: /股权|股份|资产|所有权|知识产权|专利/,
      score: 7,
      read: () => ({ choice: 'free' }),
    },
  ],
  /转让/,
);

/** Whether a party may hand the contract on; `choice` is consent_required, prohibited or free. */
export const assignment: KindRules = {
  kind: 'assignment',
  about: /assign|transfer|delegat|转让|转移|让与|转包/i,
  en: withoutOthers(en),
  zh,
};
