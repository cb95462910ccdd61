/**
 * Fields of messages and rows that name, choose or date something and state nothing: with another value, their message
 * or row could not be read any more. Their values are left alone as long as they look like names. Users' own fields may
 * have the same names, so a value that does not look like an identifier or a choice of ours (an address, an account
 * number) is erased by phrases that are long enough to be unambiguous.
 */
const NAME_KEYS: ReadonlySet<string> = new Set([
  ...['tenantId', 'tenantid', 'knowledgeId', 'scheduleId', 'sessionId', 'workflow', 'role', 'disposition'],
  ...['knowledgeType', 'layer', 'sourceType', 'accessLevel', 'sensitivity', 'polarity', 'modality', 'clearance'],
  ...['verdict', 'outcome', 'resolution', 'decision', 'onExpiry', 'sanitize', 'mood', 'clause', 'purpose', 'relation'],
  ...['basis', 'ruling', 'freshness', 'after', 'derivedFrom', 'restsOn'],
]);
/** Names here, words elsewhere: a phrase that is long enough to be unambiguous is erased from them too. */
const OFTEN_NAMES: ReadonlySet<string> = new Set([
  ...['id', 'type', 'kind', 'state', 'status', 'source', 'code', 'action', 'change', 'language', 'why', 'ask', 'keep'],
]);
const NAME = /^[\w.:@#/+-]{1,200}$/;
const IDENTIFIER = /^(?=.*[a-z])[a-z0-9][A-Za-z0-9_#-]{0,62}$/;
/** Only ours, in other forms than an identifier. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  ...['taskId', 'taskid', 'stepId', 'stepid', 'claimId', 'claimid', 'candidateId', 'candidateid', 'workerId'],
  ...['causationid', 'correlationid', 'traceparent', 'specversion', 'datacontenttype', 'dataschema', 'executor'],
  ...['supersedes', 'copiedFrom', 'forkedFrom'],
]);
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;
const FACT_REF = /^[a-z0-9][a-z0-9_-]{0,62}@[1-9]\d{0,8}$/;
/** May something be erased from this field's text? `long`: only by phrases that are long enough to be unambiguous. */
export function toErasable(key: string | null, text: string): 'all' | 'long' | 'nothing' {
  if (TIME.test(text) || FACT_REF.test(text)) return 'nothing';
  if (key === null || !NAME.test(text)) return 'all';
  if (OWN_KEYS.has(key)) return 'nothing';
  if (NAME_KEYS.has(key)) return IDENTIFIER.test(text) ? 'nothing' : 'long';
  return OFTEN_NAMES.has(key) ? 'long' : 'all';
}

/**
 * A schema's fields keep their names; a key of another form (a sentence, an account number, a name) is a text like any
 * other.
 */
export function isFieldName(key: string): boolean {
  return IDENTIFIER.test(key);
}
