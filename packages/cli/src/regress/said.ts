import { Answer } from '@cleanslate/workflows';

type Comparison = Extract<Answer['statements'][number], { kind: 'comparison' }>;

const NUMBER = String.raw`\d+(?:[.,]\d+)*`;

/**
 * What an answer states, text by text: its outcome, quotes, values with their units, verdicts and comparisons. Not the
 * question, which it repeats, nor possible outcomes. Everything, for a result in another form.
 */
export function toldBy(result: unknown): string[] {
  const answer = Answer.safeParse(result);
  if (!answer.success) return [JSON.stringify(result)];
  const statements = answer.data.statements.flatMap((statement) => {
    if (statement.kind === 'comparison')
      return [statement.relation, withUnit(statement.difference, statement.unit), ...sides(statement)];
    const { quote, value, unit, verdict } = statement;
    return [quote, ...(value === null ? [] : [withUnit(value, unit)]), ...(verdict === null ? [] : [verdict])];
  });
  return [answer.data.outcome.replaceAll('_', ' '), ...statements];
}

/**
 * Whether one of the texts contains this one; its numbers must match as whole numbers: "28 days" doesn't say "8 days".
 */
export function says(texts: readonly string[], wanted: string): boolean {
  const pattern = new RegExp(bounded(escaped(wanted), wanted), 'u');
  return texts.some((text) => pattern.test(text));
}

/**
 * Whether a text says it with other numbers: "8 characters" when "14 characters" is wanted. A number alone is not
 * compared.
 */
export function saysOtherNumber(texts: readonly string[], wanted: string): boolean {
  const parts = wanted.split(new RegExp(NUMBER, 'u'));
  if (parts.length < 2 || !parts.some((part) => /[\p{L}\p{Sc}%]/u.test(part))) return false;
  const pattern = new RegExp(bounded(parts.map((part) => escaped(part)).join(NUMBER), wanted), 'u');
  return texts.some((text) => pattern.test(text));
}

/** A pattern that neither begins nor ends within a number. */
function bounded(pattern: string, wanted: string): string {
  return `${/^\d/.test(wanted) ? String.raw`(?<!\d|\d[.,])` : ''}${pattern}${/\d$/.test(wanted) ? String.raw`(?!\d|[.,]\d)` : ''}`;
}

function sides({ left, right }: Comparison): string[] {
  return [left, right].map(({ value, unit }) => withUnit(value, unit));
}

function withUnit(value: string, unit: string | null): string {
  return unit === null ? value : `${value} ${unit}`;
}

function escaped(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}/]/gu, '\\$&');
}
