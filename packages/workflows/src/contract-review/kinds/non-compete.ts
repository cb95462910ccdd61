import { byCases, type Duration, durationsOf, type Found, isBlank, type KindRules, stated } from '../rule.ts';

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
  return { basis: 'indefinite' as const };
}

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
      not: /^.{0,60}\bnon-?compet\w*\.?$/i,
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

const zh = byCases(
  [
    {
      says: /竞业(?:限制|禁止|避止)/,
      not: /竞业(?:限制|禁止)(?:条款)?(?:不适用|无约束)|不(?:受|负|承担)[^。;]{0,10}竞业|未约定竞业/,
      score: 9,
      read: ({ plain, next }) => {
        if (!/不得|期限|期间|义务|约定|限制期|承诺|遵守/.test(plain)) return null;
        for (const text of [plain, ...next.slice(0, 1).map(({ plain: after }) => after)]) {
          const found = durationsOf(text, 40).find(
            ({ unit, before, after }) =>
              (unit === 'years' || unit === 'months') &&
              !/(?:前|工作满)[^。;,]{0,6}$/.test(before) &&
              !/^(?:的?(?:平均)?工资|薪)/.test(after),
          );
          if (found !== undefined) return stated(found);
        }
        return { basis: isBlank(plain) && /期限|期间|年|个月/.test(plain) ? 'blank' : 'indefinite' };
      },
    },
    {
      says: /(?:不得|不应|不可|承诺不|不会?(?=自营|从事|经营|投资))[^。;]{0,80}(?:竞争关系|有竞争|相竞争|同类(?:产品|业务|的)|竞争性|相同或(?:相)?(?:类似|近似)|竞争业务|竞争对手)/,
      not: /(?:串通|不正当竞争)/,
      score: 8,
      read: ({ plain }) => {
        const found = durationsOf(plain, 40).find(({ unit }) => unit === 'years' || unit === 'months');
        return found === undefined ? { basis: 'indefinite' } : stated(found);
      },
    },
  ],
  /竞业/,
);

/** Whether and how long somebody may not compete after the work ends. */
export const nonCompete: KindRules = {
  kind: 'non_compete',
  about:
    /compet|prohibited (?:activit|business)|restrict(?:ed|ion) (?:activit|business|period)|covenant period|directly or indirectly|竞业|竞争|同类/i,
  en,
  zh,
};
