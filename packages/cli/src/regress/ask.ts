import type { Client } from '@cleanslate/client';
import { type FactView, isAppError } from '@cleanslate/contracts';
import type { Outcome, Violation } from './compare.ts';
import { fingerprintOf, type Question, type QuestionSet } from './question-set.ts';
import { says, saysOtherNumber, toldBy } from './said.ts';

export type Asked = Outcome & {
  /** Hits, best first. */
  readonly found: readonly string[];
  /** For people: what failed. */
  readonly why: readonly string[];
  readonly violations: readonly Violation[];
  readonly revision: number;
  readonly space: string | null;
};

const TOP = 5;
const AT_ONCE = 4;

/**
 * Asks all questions, four at a time, in the order of the set. `answers`: also has the workflow answer those with an
 * `answer`.
 */
export async function askAll(client: Client, set: QuestionSet, answers: boolean): Promise<Asked[]> {
  const asked: Asked[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < set.questions.length; at = next++) {
      const question = set.questions[at];
      if (question !== undefined) asked[at] = await ask(client, question, set, answers);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return asked;
}

async function ask(client: Client, question: Question, set: QuestionSet, answers: boolean): Promise<Asked> {
  const { defaults, erased } = set;
  const { validAt = defaults.validAt, revision = defaults.revision, knownAt = defaults.knownAt } = question;
  const limit = question.top ?? defaults.top ?? TOP;
  const asked = {
    ...(validAt && { validAt }),
    ...(revision !== undefined && { revision }),
    ...(knownAt && { knownAt }),
  };
  const found = await client.facts.search({ query: question.ask, ...asked, limit });
  const pin = { validAt: found.validAt, revision: found.revision };
  const hits = found.hits.map(({ fact }) => fact);
  const why: string[] = [];
  const violations = hits.flatMap((fact) => findViolations(fact, client.tenant, pin, erased));
  why.push(...violations.map(([violation, ref]) => `${violation.replace('_', ' ')}: ${ref}`));
  for (const wanted of question.expect)
    if (!hits.some((fact) => names(wanted, fact))) why.push(`${wanted} is not among the first ${limit}`);
  for (const unwanted of question.not)
    if (hits.some((fact) => fact.knowledgeId === unwanted)) why.push(`${unwanted} is among the first ${limit}`);
  const told: Violation[] = violations.map(([violation]) => violation);
  const [first] = question.expect;
  const expected = first === undefined ? undefined : hits.find((fact) => names(first, fact));
  if (question.value !== undefined && expected !== undefined && expected.assertion?.value !== question.value) {
    told.push('changed_number');
    why.push(`${refOf(expected)} says ${expected.assertion?.value ?? 'no value'}, not ${question.value}`);
  }
  // A version from the search although the fact read by its id has another one in force.
  if (expected !== undefined && !(await holds(client, expected, pin))) {
    told.push('stale');
    why.push(`${refOf(expected)} is not the version in force at ${pin.validAt}, revision ${pin.revision}`);
  }
  if (answers && question.answer !== undefined) why.push(...(await checkAnswer(client, question, pin, erased, told)));
  return {
    id: question.id,
    category: question.category,
    fingerprint: fingerprintOf(question, defaults),
    passed: why.length === 0,
    found: hits.map(refOf),
    why,
    violations: told,
    revision: found.revision,
    space: found.space,
  };
}

type Pin = { readonly validAt: string; readonly revision: number };

function refOf({ knowledgeId, version }: FactView): string {
  return `${knowledgeId}@${version}`;
}

function names(wanted: string, fact: FactView): boolean {
  return wanted === fact.knowledgeId || wanted === refOf(fact);
}

/** What must never be found, each with the version concerned. */
export function findViolations(
  fact: FactView,
  tenant: string,
  { validAt, revision }: Pin,
  erased: readonly string[],
): [Violation, string][] {
  const at = Date.parse(validAt);
  const found: [Violation, string][] = [];
  const early = fact.validFrom !== null && Date.parse(fact.validFrom) > at;
  const late = fact.validUntil !== null && Date.parse(fact.validUntil) <= at;
  const unbelieved = fact.revisionFrom > revision || (fact.revisionUntil !== null && fact.revisionUntil <= revision);
  if (early || late || unbelieved) found.push(['stale', refOf(fact)]);
  if (fact.tenantId !== tenant) found.push(['foreign', refOf(fact)]);
  if (fact.redacted !== undefined || erased.some((text) => fact.statement.includes(text)))
    found.push(['erased', refOf(fact)]);
  return found;
}

async function holds(client: Client, fact: FactView, pin: Pin): Promise<boolean> {
  try {
    const { fact: now } = await client.facts.get({ knowledgeId: fact.knowledgeId, ...pin });
    return now.version === fact.version;
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}

/** What the workflow's answer lacks. */
async function checkAnswer(
  client: Client,
  { ask: question, answer = [] }: Question,
  pin: Pin,
  erased: readonly string[],
  told: Violation[],
): Promise<string[]> {
  const { taskId } = await client.submit({ workflow: 'question-answering', input: { question }, ...pin });
  const task = await client.result(taskId);
  if (task.state !== 'completed') return [`task ${taskId} ${task.state}: ${task.error?.code ?? 'no code'}`];
  const why: string[] = [];
  const text = JSON.stringify(task.result);
  if (erased.some((each) => text.includes(JSON.stringify(each).slice(1, -1)))) {
    told.push('erased');
    why.push(`erased: in the answer of task ${taskId}`);
  }
  const texts = toldBy(task.result);
  for (const wanted of answer.filter((each) => !says(texts, each))) {
    const other = saysOtherNumber(texts, wanted);
    if (other) told.push('changed_number');
    why.push(`the answer of task ${taskId} ${other ? 'says another number than' : 'does not say'} "${wanted}"`);
  }
  return why;
}
