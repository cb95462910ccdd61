import { figuresOf, foldWidth, toBigrams, toSearchTerms } from '@cleanslate/domain';

/** Words that ask, or that frame the question: a fact need not contain them to answer. */
const EN_FRAMING = `what which who whom whose when where why how long much many far often soon is are was were be been do does did has have had may might must can could should shall will
  would a an the of for in on at to by with from about between and or than if there any all it its this that these those tell say give show please know rule rules policy policies
  maximum minimum max min most least limit limits cap period periods term terms deadline time times duration length rate number amount level currently now today present valid
  apply applies applied applicable hold holds held need needs needed require requires required requirement requirements allow allowed allows permitted permit permits set state
  stated states mean means exactly within under according company companies our we you your they them one ones day days week weeks month months year years hour hours percent percentage
  every everyone everybody anyone anybody someone somebody also still ever really per quickly quick fast slow slowly money euro euros dollars longest shortest highest lowest earliest latest usual normal standard keep kept get gets take takes make makes`;

/** Longest first: a part of one must not be removed from another. */
const ZH_FRAMING = [
  '多少个工作日内',
  '多少个月内',
  '多少工作日内',
  '多少小时内',
  '多少天内',
  '多少日内',
  '多少年内',
  '几个月内',
  '几天内',
  '几日内',
  '几年内',
  '多少个工作日',
  '多少个月',
  '多少工作日',
  '多少小时',
  '多少万元',
  '多少天',
  '多少日',
  '多少年',
  '多少周',
  '多少次',
  '多少钱',
  '多少元',
  '多少人',
  '多少',
  '几个工作日',
  '几个月',
  '几天',
  '几年',
  '几次',
  '几日',
  '是什么时候',
  '什么时候',
  '什么时间',
  '什么',
  '哪一个',
  '哪些',
  '哪个',
  '哪里',
  '何时',
  '何人',
  '是否需要',
  '是否可以',
  '是否',
  '能否',
  '可否',
  '能不能',
  '可不可以',
  '可以',
  '需要',
  '必须',
  '应当',
  '应该',
  '应在',
  '应于',
  '应为',
  '不得',
  '规定了',
  '规定',
  '要求',
  '请问',
  '关于',
  '根据',
  '按照',
  '目前',
  '现在',
  '当前',
  '最多',
  '最少',
  '至少',
  '至多',
  '最长',
  '最短',
  '最高',
  '最低',
  '最晚',
  '最早',
  '上限',
  '下限',
  '超过',
  '少于',
  '低于',
  '高于',
  '以内',
  '之内',
  '天内',
  '日内',
  '个月内',
  '年内',
  '多久',
  '多长',
  '多高',
  '多大',
  '时间',
  '有效',
  '我们',
  '公司的',
  '本公司',
  '为多',
  '是谁',
  '谁',
  '吗',
  '呢',
  '么',
  '是',
  '的',
  '在',
  '为',
  '由',
  '将',
  '被',
  '把',
  '了',
  '有',
  '和',
  '与',
  '或',
];

/** One word for several synonyms. Stems, as `toSearchTerms` cuts them. */
const EN_SAME: Readonly<Record<string, string>> = {
  paid: 'pai',
  payment: 'pai',
  payabl: 'pai',
  pay: 'pai',
  payer: 'pai',
  worker: 'employe',
  personnel: 'employe',
  colleagu: 'employe',
  client: 'custom',
  buyer: 'custom',
  vendor: 'supplier',
  agreement: 'contract',
  overdu: 'late',
  delai: 'late',
  delay: 'late',
  holidai: 'leav',
  vacat: 'leav',
  trip: 'travel',
  retain: 'retent',
  terminat: 'termin',
  cancel: 'termin',
  approv: 'approv',
  authoris: 'approv',
  author: 'approv',
  led: 'lead',
  leader: 'lead',
  head: 'lead',
  refund: 'reimburs',
  repai: 'reimburs',
  remot: 'remot',
  bui: 'purchas',
  procur: 'purchas',
  staff: 'employe',
  fee: 'price',
  cost: 'price',
};

const ZH_SAME: readonly (readonly [RegExp, string])[] = [
  [/支付|给付|缴付/g, '付款'],
  [/付款款项?/g, '付款'],
  [/职工|雇员|职员/g, '员工'],
  [/供货商|卖方/g, '供应商'],
  [/买方|顾客/g, '客户'],
  [/年休假/g, '年假'],
  [/保修/g, '质保'],
  [/办公室/g, '办事处'],
];

const FRAMING: ReadonlySet<string> = new Set(toSearchTerms(EN_FRAMING).keys());
/** Endings that a Chinese noun may have or lack: 付款期、付款期限, 保存、保存期限. */
const LOOSE_SUFFIX = /(?<=..)(?:期限|时限|期间|年限|天数|金额|数额|之?后|之?前|时)$/;
/**
 * They ask for an end or an amount, as 多久 and 多少 do. 费, 金, 率 and the like make another
 * thing of a word: 加班费 is not 加班餐补.
 */
const LOOSE_ENDING = /[期限额数]/;

/** What a fact must contain to be about what is asked. */
export type QuestionWords = {
  readonly stems: readonly string[];
  /** Runs of Chinese characters, two at least. */
  readonly runs: readonly string[];
};

export function wordsOfQuestion(question: string): QuestionWords {
  const text = withoutFigures(question);
  const han = withoutFraming(toSameWords(text));
  const runs = [...han.matchAll(/\p{Script=Han}{2,}/gu)].map(([run]) => run);
  return { stems: [...stemsOf(text)].filter((stem) => !FRAMING.has(stem)), runs };
}

function withoutFraming(text: string): string {
  return ZH_FRAMING.reduce((left, framing) => left.replaceAll(framing, ' '), text);
}

/** Latin stems of a text, each word under one name. */
export function stemsOf(text: string): ReadonlySet<string> {
  const terms = [...toSearchTerms(withoutContractions(text).replace(/[_.-]/g, ' ')).keys()];
  return new Set(terms.filter((term) => !/\p{Script=Han}/u.test(term)).map((term) => EN_SAME[term] ?? term));
}

/** "What's", "director's", "can't": their endings are no words that a fact would have to contain. */
function withoutContractions(text: string): string {
  return text
    .replace(/(?<=\p{L})['’](?:s|re|m|ve|ll|d)\b/giu, '')
    .replace(/\b(?:ca|wo|sha)n['’]t\b/gi, 'not')
    .replace(/(?<=\p{L})n['’]t\b/giu, ' not');
}

export function isFraming(stem: string): boolean {
  return FRAMING.has(stem);
}

/** Chinese text with one word for several synonyms. */
export function toSameWords(text: string): string {
  return ZH_SAME.reduce((left, [pattern, same]) => left.replace(pattern, same), foldWidth(text)).replaceAll('的', '');
}

/** Does the text contain every pair of the run, apart from an optional ending? */
export function coversRun(text: string, asked: string): boolean {
  const run = asked.replace(LOOSE_SUFFIX, '');
  const covered = new Set<number>();
  for (let i = 0; i + 1 < run.length; i++) {
    if (!text.includes(run.slice(i, i + 2))) continue;
    covered.add(i).add(i + 1);
  }
  return [...run].every((char, i) => covered.has(i) || (i === run.length - 1 && i >= 2 && LOOSE_ENDING.test(char)));
}

function withoutFigures(question: string): string {
  return figuresOf(question)
    .filter(({ text }) => /[\d０-９]/.test(text))
    .reduce((left, { text }) => left.replace(text, ' '), question);
}

/** Who is meant implicitly: "may I…" is asked by one of them. */
const ANYBODY = stemsOf('employee staff everyone anyone person people up each all');

/** Does a statement say nothing that narrows it beyond the question: no "on probation", no "in Berlin"? */
export function saysNoMore(statement: string, question: string): boolean {
  const asked = stemsOf(question);
  const more = [...stemsOf(withoutFigures(statement))].filter(
    (stem) => !asked.has(stem) && !FRAMING.has(stem) && !/\d/.test(stem),
  );
  if (more.some((stem) => !ANYBODY.has(stem))) return false;
  const han = withoutFraming(toSameWords(withoutFigures(statement)).replace(/每[天日周月年次晚]/g, ' '));
  const text = toSameWords(question);
  return [...han.matchAll(/\p{Script=Han}{2,}/gu)].every(([run]) => coversRun(text, run));
}

/** Share of the shorter one's words above which two statements are about the same. */
const SAME = 0.6;

/**
 * Two statements with the same words except for their numbers; different bare numbers ("priority 1") make them
 * different.
 */
export function speaksOfSame(a: string, b: string): boolean {
  const labels = (text: string) => figuresOf(text).flatMap(({ unit, value }) => (unit === 'number' ? [value] : []));
  if (labels(a).sort().join() !== labels(b).sort().join()) return false;
  const [left, right] = [contentOf(a), contentOf(b)];
  const common = [...left].filter((word) => right.has(word)).length;
  const least = Math.min(left.size, right.size);
  return least > 0 && common / least >= SAME;
}

function contentOf(statement: string): ReadonlySet<string> {
  const text = withoutFigures(statement);
  const stems = [...stemsOf(text)].filter((stem) => !FRAMING.has(stem) && !/\d/.test(stem));
  const runs = [...withoutFraming(toSameWords(text)).matchAll(/\p{Script=Han}{2,}/gu)].flatMap(([run]) =>
    toBigrams(run),
  );
  return new Set([...stems, ...runs]);
}
