import type { Passage } from './clause.ts';
import { wordsOf } from './explain.ts';
import type { Compliant, ContractReport, Evidence, Finding, ModelPart, ModelReading } from './schemas.ts';

type Rendered = Omit<ContractReport, 'markdown'>;

interface Labels {
  readonly title: string;
  readonly document: string;
  readonly bytes: string;
  readonly knowledge: string;
  readonly revision: string;
  readonly summary: (report: Rendered) => string;
  readonly findings: string;
  readonly none: string;
  readonly compliant: string;
  readonly evidence: string;
  readonly policy: string;
  readonly at: string;
  readonly page: (page: number) => string;
  readonly confidence: string;
  readonly missing: string;
  readonly always: string;
  readonly further: string;
  readonly unapplied: string;
  readonly unchecked: string;
  readonly beside: string;
  readonly clauses: string;
  readonly absent: string;
  readonly suspicious: string;
  readonly unread: string;
  readonly byModel: string;
  readonly ofModel: (part: ModelPart) => string;
  readonly complies: string;
  readonly dropped: string;
}

const EN: Labels = {
  title: 'Contract review',
  document: 'Document',
  bytes: 'bytes',
  knowledge: 'Policies as of',
  revision: 'revision',
  summary: ({ summary }) =>
    `${summary.high} HIGH, ${summary.medium} MEDIUM, ${summary.low} LOW; ${summary.compliant} compliant.`,
  findings: 'Deviations',
  none: 'None.',
  compliant: 'Compliant',
  evidence: 'Evidence',
  policy: 'Policy',
  at: 'offsets',
  page: (page) => `page ${page}, `,
  confidence: 'confidence',
  missing: 'Not found in the document.',
  always: 'always',
  further: 'further notice',
  unapplied: 'Policies that could not be applied',
  unchecked: 'What they ask for was not checked.',
  beside: 'another value than at',
  clauses: 'What the contract says',
  absent: 'Not found',
  suspicious: 'Passages that speak to a machine',
  unread: 'They were read as nothing. Ask who put them there.',
  byModel: 'Added by a model',
  ofModel: ({ name, outcome, error, readings, unread }) =>
    outcome === 'failed'
      ? `The model ${name} gave no answer (${error}): this review is by rules alone.`
      : outcome === 'not_needed'
        ? `The model ${name} was not asked: no passage was left over in which a missing clause could stand.`
        : `The rules found no such clauses; the model ${name} points to ${readings.length === 0 ? 'no passage' : 'these passages'}. Above nothing of it is counted.${unread === 0 ? '' : ` ${unread} further passages were not shown to it.`}`,
  complies: 'complies',
  dropped: 'Not taken from its answer',
};

const ZH: Labels = {
  title: '合同审查报告',
  document: '文件',
  bytes: '字节',
  knowledge: '政策时点',
  revision: '知识版本',
  summary: ({ summary }) =>
    `高 ${summary.high} 项，中 ${summary.medium} 项，低 ${summary.low} 项；符合 ${summary.compliant} 项。`,
  findings: '偏差',
  none: '无。',
  compliant: '符合政策',
  evidence: '证据',
  policy: '政策',
  at: '位置',
  page: (page) => `第 ${page} 页，`,
  confidence: '置信度',
  missing: '文件中未找到。',
  always: '一直',
  further: '另行通知',
  unapplied: '无法适用的政策',
  unchecked: '以下政策的内容未经核对。',
  beside: '与此处数值不同：',
  clauses: '合同条款一览',
  absent: '未找到',
  suspicious: '针对机器而非合同双方的文字',
  unread: '以下文字未作为条款采纳，请查明其来源。',
  byModel: '模型补充',
  ofModel: ({ name, outcome, error, readings, unread }) =>
    outcome === 'failed'
      ? `模型 ${name} 未能作答（${error}），本次审查仅依据规则。`
      : outcome === 'not_needed'
        ? `未询问模型 ${name}：没有可能含有缺失条款的段落。`
        : `规则未找到这些条款；模型 ${name} ${readings.length === 0 ? '未指出任何段落' : '指出以下段落'}，均未计入上文。${unread === 0 ? '' : `另有 ${unread} 段未提交给模型。`}`,
  complies: '符合',
  dropped: '其回答中未采纳的',
};

/**
 * No mark in a text may become one of ours: no heading, list, link, picture or tag, and no address that a viewer would
 * turn into a link.
 */
function escapeText(text: string): string {
  return text
    .replace(/[\\`*_[\]<>#|]/g, (char) => `\\${char}`)
    .replaceAll('://', ':\\/\\/')
    .replace(/\bwww\./gi, (host) => `${host.slice(0, 3)}\\.`);
}

/** A quote on one block. */
function quoteBlock(quote: string): string {
  const lines = quote
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.map((line) => `> ${escapeText(line)}`).join('\n');
}

function inline(text: string): string {
  return escapeText(text.replace(/\s+/g, ' '));
}

/** "page 3, offsets 120–240". */
function place({ start, end, page }: Passage, labels: Labels): string {
  return `${page === undefined ? '' : labels.page(page)}${labels.at} ${start}–${end}`;
}

function renderItem(item: Finding | Compliant | ModelReading, label: string, labels: Labels): string {
  const where = item.span === null ? '' : `${place(item.span, labels)}, `;
  return [
    `### ${label}`,
    '',
    inline(item.explanation),
    '',
    item.span === null ? `> ${labels.missing}` : quoteBlock(item.quote),
    '',
    `${labels.policy}: \`${item.policy}\` (${where}${labels.confidence} ${item.confidence})`,
    '',
  ].join('\n');
}

function renderEvidence(evidence: Evidence, labels: Labels): string {
  if (evidence.type === 'document') {
    const { span, beside } = evidence;
    const why = beside === undefined ? '' : ` (${labels.beside} ${beside.start}–${beside.end})`;
    return `- ${labels.document} ${span.start}–${span.end}${why}`;
  }
  const range = `${evidence.validFrom ?? labels.always} – ${evidence.validUntil ?? labels.further}`;
  return `- \`${evidence.policy}\` (${range}): ${inline(evidence.statement)}`;
}

const SHOWN = 200;

function cutQuote(quote: string): string {
  return quote.length > SHOWN ? `${quote.slice(0, SHOWN).toWellFormed()}…` : quote;
}

/** One line a clause, whether or not a policy asks for it. */
function renderClauses({ clauses, language }: Rendered, labels: Labels): string[] {
  const words = wordsOf(language);
  const found = clauses.flatMap((clause) => {
    if (!clause.present) return [];
    return [
      `- **${words.kinds[clause.kind]}**: ${inline(words.reading(clause))} (${place(clause.span, labels)}): “${inline(cutQuote(clause.quote))}”`,
    ];
  });
  const absent = clauses.filter(({ present }) => !present).map(({ kind }) => words.kinds[kind]);
  const last = absent.length === 0 ? [] : [`- ${labels.absent}: ${absent.join(', ')}`];
  return clauses.length === 0 ? [] : [`## ${labels.clauses}`, '', ...found, ...last, ''];
}

function renderSuspicious({ suspicious }: Rendered, labels: Labels): string[] {
  if (suspicious.length === 0) return [];
  const shown = suspicious.flatMap(({ quote, span }) => [
    `- ${place(span, labels)}`,
    '',
    quoteBlock(cutQuote(quote)),
    '',
  ]);
  return [`## ${labels.suspicious}`, '', labels.unread, '', ...shown];
}

/** Only if there is something to say: otherwise the report has no such section. */
function renderUnapplied({ unapplied }: Rendered, labels: Labels): string[] {
  if (unapplied.length === 0) return [];
  const lines = unapplied.map(({ policy, why }) => `- \`${policy}\`: ${inline(why)}`);
  return [`## ${labels.unapplied}`, '', labels.unchecked, '', ...lines, ''];
}

/** Only if a model is configured. */
function renderModel({ model, language }: Rendered, labels: Labels): string[] {
  if (model === undefined) return [];
  const words = wordsOf(language);
  const items = model.readings.map((item) => {
    const verdict = item.severity === null ? labels.complies : words.severities[item.severity];
    return renderItem(item, `${verdict}: ${words.kinds[item.clause]}`, labels);
  });
  const dropped = model.dropped.map(({ reason, count }) => `${count} × \`${reason}\``);
  const last = dropped.length === 0 ? [] : [`${labels.dropped}: ${dropped.join(', ')}`, ''];
  return [`## ${labels.byModel}`, '', inline(labels.ofModel(model)), '', ...items, ...last];
}

/**
 * The report for people. Everything in it is also in the report's fields, so that the validator can render it again.
 */
export function renderMarkdown(report: Rendered): string {
  const words = wordsOf(report.language);
  const labels = report.language === 'zh' ? ZH : EN;
  const { document, pin, findings, compliant, evidence } = report;
  return [
    `# ${labels.title}: ${inline(document.name)}`,
    '',
    `${labels.document}: sha256 \`${document.sha256}\`, ${document.bytes} ${labels.bytes}`,
    '',
    `${labels.knowledge} ${pin.validAt}, ${labels.revision} ${pin.revision}`,
    '',
    labels.summary(report),
    '',
    `## ${labels.findings}`,
    '',
    ...(findings.length === 0 ? [labels.none, ''] : []),
    ...findings.map((item) =>
      renderItem(item, `${words.severities[item.severity]}: ${words.kinds[item.clause]}`, labels),
    ),
    `## ${labels.compliant}`,
    '',
    ...(compliant.length === 0 ? [labels.none, ''] : []),
    ...compliant.map((item) => renderItem(item, words.kinds[item.clause], labels)),
    ...renderModel(report, labels),
    ...renderUnapplied(report, labels),
    ...renderSuspicious(report, labels),
    ...renderClauses(report, labels),
    `## ${labels.evidence}`,
    '',
    ...evidence.map((item) => renderEvidence(item, labels)),
    '',
  ].join('\n');
}
