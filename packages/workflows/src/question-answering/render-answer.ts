import type { Answer, AnswerStatement, Dispute, SubGoalRecord } from './schemas.ts';
import { type Words, wordsIn } from './words.ts';

/** The answer for people: what is known with its sources, where they disagree, and what is not known. */
export function renderAnswer(answer: Omit<Answer, 'markdown'>): string {
  const unchanged = findUnchanged(answer).map(({ period }) => `- ${wordsIn(answer.language).unchanged(period)}`);
  return render(answer, unchanged, (question) => spellOut(question, answer.plan));
}

/**
 * As generators of the release before render it, which may still run beside a validator of this one: without what was
 * not changed, and with the names of questions as they stand.
 */
export function renderAnswerAsBefore(answer: Omit<Answer, 'markdown'>): string {
  return render(answer, [], (question) => question);
}

function render(
  answer: Omit<Answer, 'markdown'>,
  unchanged: readonly string[],
  spelled: (question: string) => string,
): string {
  const words = wordsIn(answer.language);
  const lines = [`# ${toPlain(answer.question)}`, '', `## ${words.outcome[answer.outcome]}`, ''];
  const said = answer.statements.map((statement) => `- ${toLine(statement, words, answer.plan.by === 'model')}`);
  // One fact may answer at several times; its line says when it is in force.
  lines.push(...new Set(said), ...unchanged);
  const unknown = [
    ...answer.missing.map((missing) => words.why({ ...missing, question: spelled(missing.question) })),
    ...answer.unreachable.map(({ source, code }) => words.unreachable(source, code)),
  ];
  if (unknown.length > 0) lines.push('', `## ${words.missing}`, '', ...unknown.map((line) => `- ${toPlain(line)}`));
  if (answer.disputes.length > 0) {
    lines.push('', `## ${words.disputes}`, '');
    for (const dispute of answer.disputes) lines.push(...toDisputeLines(dispute, words));
  }
  if (answer.evidence.length > 0) {
    lines.push('', `## ${words.evidence}`, '');
    for (const { fact, sourceRef, validFrom, validUntil } of answer.evidence) {
      const held = words.held({ from: validFrom, until: validUntil });
      lines.push(
        `- \`${nameOf(fact)}\` ${[held, words.source(`\`${nameOf(sourceRef)}\``)].filter((part) => part !== '').join(', ')}`,
      );
    }
  }
  return `${[...lines, '', `_${words.provider(answer.provider)}_`].join('\n').replace(/\n{3,}/g, '\n\n')}\n`;
}

/** Changes were asked for, and all that is on record is one version, in force until the end of what was asked about. */
function findUnchanged({ statements, missing, disputes, plan }: Omit<Answer, 'markdown'>): readonly SubGoalRecord[] {
  return plan.subGoals.filter(({ id, timeline, period }) => {
    if (!timeline || [...missing, ...disputes].some(({ subGoal }) => subGoal === id)) return false;
    const [only, ...others] = statements.filter((each) => each.kind === 'quote' && each.subGoal === id);
    if (only?.kind !== 'quote' || others.length > 0) return false;
    return only.validUntil === null || (period?.until != null && only.validUntil >= period.until);
  });
}

/** A question with others in the place of their results: what `{g1}` asks is nothing that a reader knows. */
function spellOut(question: string, { subGoals }: Answer['plan']): string {
  return question.replace(/\{(g[1-9]\d?)\}/g, (name, id: string) => {
    const asked = subGoals.find((goal) => goal.id === id)?.question;
    return asked === undefined ? name : `‹${asked}›`;
  });
}

/** `asked`: the sub-goal's question is a model's, so the reader should see which one is answered. */
function toLine(statement: AnswerStatement, words: Words, asked: boolean): string {
  if (statement.kind === 'comparison') return toPlain(words.compared(statement));
  const { question, quote, fact, verdict, validFrom, validUntil } = statement;
  const held = words.held({ from: validFrom, until: validUntil });
  return `${asked ? `${toPlain(question)} ` : ''}${verdict === null ? '' : `**${words.verdict[verdict]}.** `}“${toPlain(quote)}” (\`${nameOf(fact)}\`${held === '' ? '' : `, ${held}`})`;
}

function toDisputeLines(dispute: Dispute, words: Words): string[] {
  return [
    `- ${toPlain(words.ruled(dispute))}`,
    ...dispute.sides.map(({ fact, disputeId, statement, sourceRef }) => {
      const named = fact === null ? `dispute ${disputeId ?? '?'}` : `\`${nameOf(fact)}\``;
      return `  - “${toPlain(statement)}” (${sourceRef === null ? named : `${named}, ${words.source(`\`${nameOf(sourceRef)}\``)}`})`;
    }),
  ];
}

/** Nothing between backticks is markup. */
function nameOf(ref: string): string {
  return ref.replaceAll('`', "'").replace(/\s+/g, ' ');
}

/** Quoted text stays text: no heading, link, picture or tag, and no address that a viewer would turn into a link. */
function toPlain(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>#|]/g, (char) => `\\${char}`)
    .replaceAll('://', ':\\/\\/')
    .replace(/\bwww\./gi, (host) => `${host.slice(0, 3)}\\.`);
}
