/**
 * Fields of messages and rows that name, choose or date something and say nothing: with another value, what holds them could not be read any more. Their
 * values are left alone as long as they look like names.
 */
const NAME_KEYS: ReadonlySet<string> = new Set([
  ...['tenantId', 'taskId', 'stepId', 'claimId', 'candidateId', 'knowledgeId', 'scheduleId', 'sessionId', 'workerId'],
  ...['tenantid', 'taskid', 'stepid', 'claimid', 'candidateid', 'causationid', 'correlationid', 'traceparent'],
  ...['specversion', 'datacontenttype', 'dataschema', 'workflow', 'executor', 'role', 'disposition'],
  ...['knowledgeType', 'layer', 'sourceType', 'accessLevel', 'sensitivity', 'polarity', 'modality', 'clearance'],
  ...['verdict', 'outcome', 'resolution', 'decision', 'onExpiry', 'sanitize', 'mood', 'clause', 'purpose', 'relation'],
  ...['basis', 'ruling', 'freshness', 'supersedes', 'copiedFrom', 'forkedFrom', 'after', 'derivedFrom', 'restsOn'],
]);
/** Names here, words elsewhere: a phrase that is long enough to mean only itself is erased from them too. */
const OFTEN_NAMES: ReadonlySet<string> = new Set([
  ...['id', 'type', 'kind', 'state', 'status', 'source', 'code', 'action', 'change', 'language', 'why', 'ask', 'keep'],
]);
const NAME = /^[\w.:@#/+-]{1,200}$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;
const FACT_REF = /^[a-z0-9][a-z0-9_-]{0,62}@[1-9]\d{0,8}$/;
/** Of a field itself: one word in Latin letters; longer ones are hashes. */
const FIELD = /^[\w.$-]{1,60}$/;

/** May something be erased from this field's text? `long`: only by phrases that are long enough to mean only themselves. */
export function toErasable(key: string | null, text: string): 'all' | 'long' | 'nothing' {
  if (TIME.test(text) || FACT_REF.test(text)) return 'nothing';
  if (key === null || !NAME.test(text)) return 'all';
  if (NAME_KEYS.has(key)) return 'nothing';
  return OFTEN_NAMES.has(key) ? 'long' : 'all';
}

/** A schema's fields keep their names; a key that is a sentence (or a word of a language that no schema is written in) is a text like others. */
export function isFieldName(key: string): boolean {
  return FIELD.test(key);
}
