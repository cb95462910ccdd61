import { byCases, type Duration, durationsOf, type Found, type Hit, isBlank, type KindRules, stated } from '../rule.ts';

const AFTER =
  /^\W{0,4}(?:\w+ ){0,4}?(?:after|following|from|thereafter|subsequent|commencing|period|immediately|beginning|of)\b|^\W{0,3}(?:$|[,)])/i;
const BEFORE =
  /\b(?:for|period of|during|within|through|until|date (?:that|which) is|and|term of|of|continuing|end of)\b[^.;]{0,50}$/i;
const OTHER =
  /\b(?:preceding|prior|previous|last|notice|notify|owning|owned|least|within (?:a )?\w+ miles?|before)\b[^.;]{0,30}$/i;

function isPeriod({ before, after, unit }: Duration): boolean {
  return (
    (unit === 'years' || unit === 'months') &&
    !OTHER.test(before) &&
    !/^\W{0,3}(?:prior|preceding|before)\b/i.test(after) &&
    (AFTER.test(after) || BEFORE.test(before))
  );
}

function period({ plain, next }: Found) {
  for (const text of [plain, ...next.slice(0, 1).map(({ plain: after }) => after)]) {
    const found = durationsOf(text).find(isPeriod);
    if (found !== undefined) return stated(found);
  }
  if (
    /\bagreement\b[^;]{0,80}\bdated\b|\bdated\b[^;]{0,60}\bagreement\b|\bnon-?compet\w+[^;]{0,40}\bagreement\b[^;]{0,100}\b(?:continue|remain|force|effect)/i.test(
      plain,
    )
  )
    return { basis: 'reference' as const };
  return { basis: BLANK_PERIOD.test(plain) ? ('blank' as const) : ('indefinite' as const) };
}

const BLANK_PERIOD =
  /\b(?:for|period of|within) (?:a |an |the )?(?:\w+ ){0,3}_{2,}|_{2,} (?:\(_{2,}\) )?(?:months?|years?)\b/i;

const BOUND =
  /\b(?:not|neither|refrain|never|prohibited|restrict\w*|covenant\w*|agrees? (?:that )?(?:he|she|employee|executive|not)|no)\b/i;

const en = byCases(
  [
    {
      says: /\b(?:compet(?:e|es|ing|ition|itive|itor|itors)|prohibited (?:activity|activities|business)|restricted (?:activity|business))\b/i,
      not: /\bcompetitive (?:nature|bid\w*|prices?|pricing|rates?|basis|market|salary|compensation|advantage)\b|\bcompetitive\w* (?:harm|injury|position)\b|\bcompeting (?:claims?|interests?)\b|\bcompetent\b|\b(?:not|no longer) (?:be )?(?:subject to|bound by)\b[^;]{0,40}\bcompet/i,
      score: 8,
      read: (found) =>
        /\b(?:engage|own|manage|operate|control|participat\w+|employed|employment (?:with|by)|be employ\w*|compete|consult\w*|render|perform|invest|assist|involved|interest in|associated|connected|work(?:s|ing)? (?:for|with)|serve)\b/i.test(
          found.plain,
        ) &&
        BOUND.test(found.plain) &&
        /\b(?:shall|will|agrees?|may|covenants?|undertakes?|promises?)\b/i.test(found.plain)
          ? period(found)
          : null,
    },
    {
      says: /\bnon-?compet(?:e|ition)\b/i,
      // "Provided that he complies with his duties of non-competition" is a condition of something else.
      not: /^.{0,60}\bnon-?compet\w*\.?$|\b(?:compl(?:y|ies|iance) with|subject to)\b[^;]{0,120}\bnon-?compet/i,
      score: 6,
      read: (found) =>
        /\b(?:agreement|covenant|provision|obligation|restriction|period|section|paragraph)\w*\b/i.test(found.plain)
          ? period(found)
          : null,
    },
    {
      // The duty refers to a defined period; its definition says how long.
      says: /\b(?:restricted|restriction|non-?compet\w+|covenant) period\b["'”’]{0,2},? (?:shall )?(?:means?|be|is)\b/i,
      not: /\b(?:stock|shares?|units?|awards?|vest\w*|securities)\b/i,
      score: 7,
      read: ({ plain, match }) => {
        const found = durationsOf(plain.slice(match.index)).find(({ unit }) => unit === 'years' || unit === 'months');
        return found === undefined ? null : stated(found);
      },
    },
    {
      says: /\b(?:shall|will|agrees?)\b[^;]{0,60}\bnot\b[^;]{0,160}\bdirectly or indirectly\b[^;]{0,120}\b(?:own|manage|operate|be employed|engage)\b/i,
      not: /\bsolicit(?![^;]{0,200}\b(?:own|manage|operate))|\b(?:responsible|liable|delays?)\b/i,
      score: 7,
      read: period,
    },
  ],
  /\bnon-?compet|\bcompet/i,
);

/** The next sentence counts where it says nothing but the period: "限制期限:离职后12个月". */
function byPeriodOnly({ plain }: { readonly plain: string }): string {
  return /^[^。;,]{0,6}(?:限制|竞业)?[^。;,]{0,4}期限?:/.test(plain) ? plain : '';
}

/** The first time that is no measure of pay ("离职前十二个月平均工资"). */
function firstPeriodZh(text: string): Duration | undefined {
  return durationsOf(text, 40).find(
    ({ unit, before, after }) =>
      (unit === 'years' || unit === 'months') &&
      !/(?:前|工作满)[^。;,]{0,6}$/.test(before) &&
      !/^(?:的?(?:平均)?工资|薪)/.test(after),
  );
}

function periodZh(plain: string, after = ''): Partial<Hit> {
  const found = firstPeriodZh(plain) ?? firstPeriodZh(after);
  if (found !== undefined) return stated(found);
  return { basis: /_{2,}\s?(?:年|个?月)/.test(plain) ? 'blank' : 'indefinite' };
}

const zh = byCases(
  [
    {
      says: /竞业(?:限制|禁止|避止)/,
      not: /竞业(?:限制|禁止)(?:条款)?(?:不适用|无约束)|不(?:另行|再)?约定[^。;]{0,6}竞业|不(?:受|负|承担)[^。;]{0,10}竞业|未约定竞业/,
      score: 9,
      read: ({ plain, next }) => {
        if (!/不得|期限|期间|义务|约定|限制期|承诺|遵守/.test(plain)) return null;
        const found = [plain, ...next.slice(0, 1).map(({ plain: after }) => after)]
          .map(firstPeriodZh)
          .find((duration) => duration !== undefined);
        if (found !== undefined) return stated(found);
        // The sentence that says how long outranks those that only name the duty, such as what is paid for it.
        return isBlank(plain) && /期限|期间|年|个月/.test(plain)
          ? { basis: 'blank' }
          : { basis: 'indefinite', score: /补偿|违约/.test(plain) ? 5 : 7 };
      },
    },
    {
      says: /(?:不得|不应|不可|不允许|承诺不|不会?(?=自营|从事|经营|投资))[^。;]{0,80}(?:竞争关系|有竞争|相竞争|(?:业务|产品)[^。;,]{0,4}竞争|同类(?:产品|业务|的)|竞争性|相同或(?:相)?(?:类似|近似|相似)|竞争业务|竞争对手)/,
      not: /(?:串通|不正当竞争)/,
      score: 8,
      read: ({ plain, next }) => periodZh(plain, next.slice(0, 1).map(byPeriodOnly)[0]),
    },
    {
      // After the work ends, the trade itself is barred in fewer words.
      says: /(?:离职|离开|解除|终止)[^。;]{0,40}(?:不得|不应|不可|不允许)[^。;]{0,40}(?:同行业?|相关行业|同业|相同业务|类似业务)/,
      not: /串通/,
      score: 8,
      read: ({ plain }) => periodZh(plain),
    },
  ],
  /竞业/,
);

/** Whether and how long somebody may not compete after the work ends. */
export const nonCompete: KindRules = {
  kind: 'non_compete',
  about:
    /compet|prohibited (?:activit|business)|restrict(?:ed|ion) (?:activit|business|period)|covenant period|directly or indirectly|竞业|竞争|同类|同行|相关行业|同业|相同|类似/i,
  en,
  zh,
};
