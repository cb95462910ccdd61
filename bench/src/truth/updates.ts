import type { Candidate } from '@cleanslate/contracts';
import { DEFAULT_SCREEN, decideCandidate, WriteDraft } from '@cleanslate/domain';
import { z } from 'zod';
import { type Measure, readRows, share } from './measure.ts';

const Text = z.string().min(1);
const Pair = z.object({
  old_seq: z.number(),
  new_seq: z.number(),
  s: Text,
  p: Text,
  old: Text,
  new: Text,
  old_text: Text,
  new_text: Text,
});
type Pair = z.infer<typeof Pair>;

const DISTRACTORS = 100_000;
const TENANT = 'acme';

function toCandidate(subject: string, predicate: string, value: string, statement: string): Candidate {
  return {
    statement,
    assertion: { subject, predicate, value, unit: null, polarity: 'positive', modality: 'is' },
    knowledgeType: 'other',
    sourceType: 'internal_document',
    sourceRef: 'series',
    confidence: 1,
    importance: 1,
    derivedFrom: [],
    tags: [],
  };
}

function say(draft: WriteDraft, candidate: Candidate, seq: number) {
  const said = { candidateId: `c-${seq}`, taskId: 't', messageId: `m-${seq}`, saidAt: seq * 1_000, validatorScore: 1 };
  const released = { tenantId: TENANT, candidate, ...said, validated: true, parents: [], wasTurnedDown: () => false };
  return decideCandidate(draft, released, DEFAULT_SCREEN, 1_000_000_000);
}

/** An older and a newer statement of one fact: the newer is current, history holds both, the conflict is seen. */
export function* measureUpdates(folder: string): Generator<Measure> {
  const pairs = readRows(folder, 'fact-updates', Pair);
  if (pairs === undefined) return;
  for (const [name, distractors, batches] of [
    ['in order of arrival', 0, true],
    ['in one batch', 0, false],
    [`among ${DISTRACTORS} others`, DISTRACTORS, false],
  ] as const) {
    const { current, history, seen } = run(pairs, distractors, batches);
    yield share(`fact-updates, ${name}: the newer value is current`, current, pairs.length, 1);
    yield share(`fact-updates, ${name}: history holds both`, history, pairs.length, 1);
    yield share(`fact-updates, ${name}: the conflict is seen`, seen, pairs.length, 0.99);
  }
}

function run(pairs: readonly Pair[], distractors: number, batches: boolean) {
  let draft = new WriteDraft([]);
  for (let index = 0; index < distractors; index++)
    say(
      draft,
      toCandidate(`thing ${index}`, `${pairs[index % pairs.length]?.p}`, `${index}`, `Thing ${index} is ${index}.`),
      1,
    );
  const sayings = pairs.flatMap((pair, index) => [
    { index, seq: pair.old_seq, newer: false, candidate: toCandidate(pair.s, pair.p, pair.old, pair.old_text) },
    { index, seq: pair.new_seq, newer: true, candidate: toCandidate(pair.s, pair.p, pair.new, pair.new_text) },
  ]);
  sayings.sort((a, b) => a.seq - b.seq);
  const ids = new Map<number, string>();
  const written = new Map<string, Set<string>>();
  let seen = 0;
  for (const { index, seq, newer, candidate } of sayings) {
    const decision = say(draft, candidate, seq + 2);
    if (newer && decision.outcome === 'updated') seen++;
    if (decision.knowledgeId === null) continue;
    ids.set(index, decision.knowledgeId);
    const values = written.get(decision.knowledgeId) ?? new Set();
    if (decision.version !== null) written.set(decision.knowledgeId, values.add(candidate.assertion?.value ?? ''));
    // A batch of its own sees what is stored, not the draft of the one before.
    if (batches) draft = new WriteDraft([...ids.values()].map((id) => draft.find(TENANT, id)));
  }
  let current = 0;
  let history = 0;
  for (const [index, pair] of pairs.entries()) {
    const id = ids.get(index) ?? '';
    const now = draft.find(TENANT, id).believed.find(({ valid }) => valid.until === Number.POSITIVE_INFINITY);
    if (now?.body.assertion?.value === pair.new) current++;
    const values = written.get(id);
    if (values?.has(pair.old) && values.has(pair.new)) history++;
  }
  return { current, history, seen };
}
