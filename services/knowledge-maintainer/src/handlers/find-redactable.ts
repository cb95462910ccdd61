import { AppError, type FactRedact, type RequestOf } from '@cleanslate/contracts';
import { createEraser, ERASED, isShortPhrase, toContent } from '@cleanslate/domain';
import {
  findCandidatesOf,
  findDisputesOf,
  findRedactable,
  findSayingVersions,
  type RedactableCandidate,
  type RedactableVersion,
  type Tx,
} from '@cleanslate/store';
import type { Call } from './answer-once.ts';
import { findCopies, toContents } from './redacted-copies.ts';

/** Told at most. */
const ELSEWHERE = 50;
/** Most rows examined: many contain the letters of a short word, few the word itself. */
const LOOKED_AT = 10_000;
/** What a version says, also in its original wording. */
const BECAME: ReadonlySet<RedactableCandidate['outcome']> = new Set(['accepted', 'duplicate', 'updated']);

export type RedactableContent = Awaited<ReturnType<typeof findContent>>;

/** The versions that a redaction is about, and everything that says the same. Throws `NOT_FOUND`. */
export async function findContent(tx: Tx, { tenantId, data }: Call<RequestOf<typeof FactRedact>>) {
  const { knowledgeId, version = null, also = [] } = data;
  const versions = await findRedactable(tx, tenantId, knowledgeId, version);
  if (versions.length === 0) throw notFound(knowledgeId, version);
  const numbers = versions.map((each) => each.version);
  const statements = versions.flatMap(({ statement }) => (statement === '' ? [] : [statement]));
  const words = [...statements, ...also];
  const meaning = toMeaning(versions, words, knowledgeId);
  const disputes = (await findDisputesOf(tx, tenantId, knowledgeId)).filter(
    ({ said }) => version === null || meaning.holds(said),
  );
  const candidates = (await findCandidatesOf(tx, tenantId, knowledgeId, version === null ? null : numbers)).filter(
    ({ said, body, settled }) =>
      body?.statement !== ERASED &&
      (settled || (body !== null && meaning.isSame(toContent(body))) || meaning.holds(said)),
  );
  const challengers = disputes.flatMap(({ challenger }) => toContents(challenger));
  const wordings = [
    ...candidates.flatMap(({ body, outcome }) =>
      body !== null && meaning.isWording(toContent(body), BECAME.has(outcome)) ? [body.statement] : [],
    ),
    ...challengers.flatMap((content) => (meaning.isWording(content, false) ? [content.statement] : [])),
  ];
  const phrases = [...new Set([...words, ...wordings])].filter((phrase) => phrase !== ERASED);
  const eraser = createEraser({ knowledgeId, versions: numbers, phrases, hashes: [] });
  const signatures = [...new Set(versions.map(({ signature }) => signature))];
  const found = await findSayingVersions(tx, tenantId, knowledgeId, { signatures, phrases, limit: LOOKED_AT });
  const copies = await findCopies(tx, tenantId, phrases, eraser);
  const own = new Set(disputes.map(({ disputeId }) => disputeId));
  return {
    versions,
    disputes,
    candidates,
    phrases,
    copies: { ...copies, disputes: copies.disputes.filter(({ disputeId }) => !own.has(disputeId)) },
    /** What may not come back. It excludes what another fact says as well, and what an agent was refused with. */
    keptOut: [
      ...versions.filter(({ redacted }) => !redacted),
      ...candidates.flatMap(({ body, outcome }) => {
        if (body === null) return [];
        const content = toContent(body);
        return outcome === 'disputed' || BECAME.has(outcome) || meaning.says(content) ? [content] : [];
      }),
      ...disputes.flatMap(({ challenger, copied }) => (copied ? [] : toContents(challenger))),
    ],
    elsewhere: found
      .filter(({ same, statement }) => same || eraser.text(statement) !== statement)
      .map(({ ref }) => ref)
      .slice(0, ELSEWHERE),
  };
}

type Content = ReturnType<typeof toContent>;

/** How other statements relate to the versions. */
function toMeaning(versions: readonly RedactableVersion[], phrases: readonly string[], knowledgeId: string) {
  const eraser = createEraser({ knowledgeId, versions: versions.map(({ version }) => version), phrases, hashes: [] });
  const signatures = new Set(versions.map(({ signature }) => signature));
  const holds = <T>(said: T) => eraser.json(said) !== said;
  const isSame = ({ signature }: Content) => signatures.has(signature);
  return {
    holds,
    isSame,
    says: (content: Content) => isSame(content) || holds(content.statement),
    /**
     * Must this statement be searched for everywhere? Yes if it contains the words. One that became or repeated a
     * version is another wording of it, unless it is too short ("5") to be unambiguous. What was merely proposed or
     * contradicted is erased from its own row alone.
     */
    isWording: (content: Content, became: boolean) =>
      holds(content.statement) || ((became || isSame(content)) && !isShortPhrase(content.statement)),
  };
}

function notFound(knowledgeId: string, version: number | null): AppError {
  return new AppError(
    'NOT_FOUND',
    `there is no ${version === null ? 'fact' : 'version'} ${knowledgeId}${version === null ? '' : `@${version}`}: \`slate fact history ${knowledgeId}\` shows its versions`,
  );
}
