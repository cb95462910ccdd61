import { AppError, type Candidate, type FactImport, type FactRedact, type RequestOf } from '@cleanslate/contracts';
import { createEraser, ERASED, toContent } from '@cleanslate/domain';
import { findCandidatesOf, findDisputesOf, findRedactable, findSayingVersions, type Tx } from '@cleanslate/store';
import type { Call } from './answer-once.ts';

/** Told at most. */
const ELSEWHERE = 50;

export type Challenger = Candidate | FactImport;
export type RedactableContent = Awaited<ReturnType<typeof findContent>>;

/** The versions that a redaction is about, and everything that says the same. Throws `NOT_FOUND`. */
export async function findContent(tx: Tx, { tenantId, data }: Call<RequestOf<typeof FactRedact>>) {
  const { knowledgeId, version = null, also = [] } = data;
  const versions = await findRedactable(tx, tenantId, knowledgeId, version);
  if (versions.length === 0)
    throw new AppError(
      'NOT_FOUND',
      `there is no ${version === null ? 'fact' : 'version'} ${knowledgeId}${version === null ? '' : `@${version}`}: \`slate fact history ${knowledgeId}\` shows its versions`,
    );
  const numbers = versions.map((each) => each.version);
  const statements = versions.flatMap(({ statement }) => (statement === '' ? [] : [statement]));
  const eraser = createEraser({ knowledgeId, versions: numbers, phrases: [...statements, ...also], hashes: [] });
  const signatures = new Set(versions.map(({ signature }) => signature));
  const disputes = (await findDisputesOf(tx, tenantId, knowledgeId)).filter(
    ({ challenger }) => version === null || eraser.json(challenger) !== challenger,
  );
  const candidates = (await findCandidatesOf(tx, tenantId, knowledgeId, version === null ? null : numbers)).filter(
    ({ body, settled }) =>
      body.statement !== ERASED && (settled || signatures.has(toContent(body).signature) || eraser.json(body) !== body),
  );
  const said = [
    ...statements,
    ...candidates.map(({ body }) => body.statement),
    ...disputes.flatMap(({ challenger }) => statementsOf(challenger)),
  ];
  const phrases = [...new Set([...said, ...also])].filter((phrase) => phrase !== ERASED);
  const found = await findSayingVersions(tx, tenantId, knowledgeId, {
    signatures: [...signatures],
    phrases,
    limit: ELSEWHERE,
  });
  const all = createEraser({ knowledgeId, versions: numbers, phrases, hashes: [] });
  const elsewhere = found
    .filter(({ same, statement }) => same || all.text(statement) !== statement)
    .map(({ ref }) => ref);
  return { versions, disputes, candidates, phrases, elsewhere };
}

function statementsOf(challenger: Challenger): string[] {
  return 'periods' in challenger ? challenger.periods.map(({ statement }) => statement) : [challenger.statement];
}
