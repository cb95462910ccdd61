-- The knowledge base: facts under two clocks. Written by cleanslate_maintainer alone; readers see one tenant, set per transaction.
-- Ids are compared byte by byte (collation "C"): prefix reads use the plain index, and order is the same on every machine.
CREATE SCHEMA knowledge AUTHORIZATION cleanslate_owner;

-- The knowledge clock: gapless, taken under one lock in the transaction that writes. Milliseconds, because that is what clients can say:
-- a time read here and sent back must find the same revision.
CREATE TABLE knowledge.revisions (
  revision bigint PRIMARY KEY CHECK (revision > 0),
  committed_at timestamptz(3) NOT NULL
);
CREATE INDEX revisions_time ON knowledge.revisions (committed_at, revision);

CREATE TABLE knowledge.fact_versions (
  -- Short name of a version for lexemes and vectors.
  fact_seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  version int NOT NULL CHECK (version > 0),
  statement text NOT NULL,
  subject text COLLATE "C",
  predicate text COLLATE "C",
  value text,
  unit text,
  polarity text CHECK (polarity IN ('positive', 'negative')),
  modality text CHECK (modality IN ('is', 'may', 'should', 'must')),
  -- Hash of the normalised subject and predicate: candidates are matched by it, exhaustively.
  fact_key text COLLATE "C",
  -- Hash of what decides sameness: subject, predicate, value, numbers, units, dates, negation, modality.
  signature text COLLATE "C" NOT NULL,
  content_hash text COLLATE "C" NOT NULL,
  knowledge_type text NOT NULL,
  layer text NOT NULL CHECK (layer IN ('core', 'working', 'reflection')),
  source_type text NOT NULL,
  source_ref text NOT NULL,
  -- Sources at the roots of what this was derived from, and the least trusted kind among them.
  lineage text[] NOT NULL,
  lineage_trust text NOT NULL,
  source_message_id text NOT NULL,
  source_time timestamptz(3) NOT NULL,
  task_id text,
  candidate_id text,
  weight double precision NOT NULL,
  confidence double precision NOT NULL,
  importance double precision NOT NULL,
  validator_score double precision,
  access_level text NOT NULL,
  sensitivity text NOT NULL,
  tags text[] NOT NULL,
  valid tstzrange NOT NULL CHECK (NOT isempty(valid)),
  revisions int8range NOT NULL CHECK (NOT isempty(revisions) AND NOT lower_inf(revisions)),
  -- The ranges' bounds, set by a trigger. Under row-level security an operator that isn't leakproof (those of ranges) gets neither an index nor
  -- statistics; plain comparisons get both.
  valid_from timestamptz NOT NULL,
  valid_until timestamptz NOT NULL,
  revision_from bigint NOT NULL,
  revision_until bigint NOT NULL,
  -- Set where the content was erased on request; the row stays as a tombstone.
  redacted_revision bigint,
  UNIQUE (tenant_id, knowledge_id, version),
  -- No two versions of a fact hold for the same moment in the same belief.
  CONSTRAINT fact_versions_one_belief EXCLUDE USING gist (tenant_id WITH =, knowledge_id WITH =, valid WITH &&, revisions WITH &&),
  CHECK (num_nonnulls(subject, predicate, value, polarity, modality, fact_key) IN (0, 6))
);
CREATE INDEX fact_versions_key ON knowledge.fact_versions (tenant_id, fact_key) WHERE fact_key IS NOT NULL;
CREATE INDEX fact_versions_signature ON knowledge.fact_versions (tenant_id, signature);
CREATE INDEX fact_versions_subject ON knowledge.fact_versions (tenant_id, subject, knowledge_id) WHERE subject IS NOT NULL;
CREATE INDEX fact_versions_source ON knowledge.fact_versions (tenant_id, source_ref);
CREATE INDEX fact_versions_task ON knowledge.fact_versions (tenant_id, task_id) WHERE task_id IS NOT NULL;

-- A changed weight is knowledge too: read as of the revision, laid over the version, which itself never changes.
CREATE TABLE knowledge.adjustments (
  tenant_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  version int NOT NULL,
  weight double precision NOT NULL,
  importance double precision NOT NULL,
  reason text NOT NULL,
  source_message_id text NOT NULL,
  revisions int8range NOT NULL CHECK (NOT isempty(revisions) AND NOT lower_inf(revisions)),
  CONSTRAINT adjustments_one_belief EXCLUDE USING gist (tenant_id WITH =, knowledge_id WITH =, version WITH =, revisions WITH &&)
);
CREATE INDEX adjustments_version ON knowledge.adjustments (tenant_id, knowledge_id, version);

-- Later sayings of the same thing: counted, never a reason for more trust. The oldest source time is the fact's age.
CREATE TABLE knowledge.sightings (
  tenant_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  version int NOT NULL,
  source_type text NOT NULL,
  source_ref text NOT NULL,
  source_message_id text NOT NULL,
  source_time timestamptz(3) NOT NULL,
  candidate_id text,
  revision bigint NOT NULL
);
CREATE INDEX sightings_version ON knowledge.sightings (tenant_id, knowledge_id, version);

-- Embedding spaces by id: model, dimension and normaliser. A query of another space is refused, never answered with noise.
CREATE TABLE knowledge.embedding_spaces (
  space text PRIMARY KEY,
  model text NOT NULL,
  dimension int NOT NULL CHECK (dimension > 0),
  normaliser text NOT NULL,
  state text NOT NULL CHECK (state IN ('filling', 'active', 'retired')),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Vectors and lexemes of all versions, also past ones; re-embedding touches no fact. Each space gets its own partial HNSW index.
CREATE TABLE knowledge.fact_embeddings (
  fact_seq bigint NOT NULL,
  space text NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  embedding vector NOT NULL,
  PRIMARY KEY (fact_seq, space)
);
CREATE TABLE knowledge.fact_lexemes (
  fact_seq bigint PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  -- English stems; Chinese bigrams and words, cut by us.
  english tsvector NOT NULL,
  chinese tsvector NOT NULL,
  normaliser text NOT NULL
);
CREATE INDEX fact_lexemes_english ON knowledge.fact_lexemes USING gin (english);
CREATE INDEX fact_lexemes_chinese ON knowledge.fact_lexemes USING gin (chinese);

-- Knowledge proposed on the blackboard, with the claim of its proposer.
CREATE TABLE knowledge.candidates (
  -- Order of arrival, for what was said in the same millisecond.
  candidate_seq bigint GENERATED ALWAYS AS IDENTITY,
  tenant_id text COLLATE "C" NOT NULL,
  candidate_id text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  step_id text NOT NULL,
  attempt int NOT NULL,
  claim_id text NOT NULL,
  epoch bigint,
  message_id text NOT NULL,
  body json NOT NULL,
  -- When the proposer said it.
  said_at timestamptz(3) NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'held', 'settled')),
  outcome text CHECK (outcome IN ('accepted', 'duplicate', 'updated', 'disputed', 'rejected', 'dropped')),
  knowledge_id text,
  version int,
  reason text,
  revision bigint,
  received_at timestamptz NOT NULL DEFAULT now(),
  settled_at timestamptz,
  PRIMARY KEY (tenant_id, candidate_id),
  CHECK ((state = 'settled') = (outcome IS NOT NULL))
);
CREATE INDEX candidates_task ON knowledge.candidates (tenant_id, task_id);
CREATE INDEX candidates_open ON knowledge.candidates (received_at) WHERE state <> 'settled';

-- What the scheduler said about a finished task; it also governs candidates that arrive later.
CREATE TABLE knowledge.settlements (
  tenant_id text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  verdict text NOT NULL CHECK (verdict IN ('passed', 'unvalidated', 'held')),
  validator_score double precision,
  claims json NOT NULL,
  message_id text NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, task_id)
);

-- A challenger that could not be decided: a question, never a version. Open while its revision range is.
CREATE TABLE knowledge.disputes (
  dispute_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  incumbent_version int NOT NULL,
  candidate_id text,
  challenger json NOT NULL,
  challenger_signature text NOT NULL,
  reason text NOT NULL,
  incumbent_score double precision,
  challenger_score double precision,
  source_message_id text NOT NULL,
  resolution text CHECK (resolution IN ('incumbent', 'challenger', 'both_wrong')),
  resolved_by text,
  revisions int8range NOT NULL CHECK (NOT isempty(revisions) AND NOT lower_inf(revisions))
);
CREATE INDEX disputes_fact ON knowledge.disputes (tenant_id, knowledge_id);

-- `derived_from` and its kin: what a fact version or an answer rests on. The cascade walks it without a model.
CREATE TABLE knowledge.relations (
  tenant_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  downstream_kind text NOT NULL CHECK (downstream_kind IN ('fact', 'answer')),
  downstream_id text COLLATE "C" NOT NULL,
  downstream_version int NOT NULL,
  upstream_id text COLLATE "C" NOT NULL,
  upstream_version int NOT NULL,
  revisions int8range NOT NULL CHECK (NOT isempty(revisions) AND NOT lower_inf(revisions)),
  PRIMARY KEY (tenant_id, downstream_kind, downstream_id, downstream_version, upstream_id, upstream_version, kind)
);
CREATE INDEX relations_upstream ON knowledge.relations (tenant_id, upstream_id, upstream_version);

-- Downstream of something that changed; cleared when the range is closed.
CREATE TABLE knowledge.marks (
  tenant_id text COLLATE "C" NOT NULL,
  downstream_kind text NOT NULL CHECK (downstream_kind IN ('fact', 'answer')),
  downstream_id text COLLATE "C" NOT NULL,
  downstream_version int NOT NULL,
  cause_id text COLLATE "C" NOT NULL,
  cause_version int NOT NULL,
  cause text NOT NULL,
  revisions int8range NOT NULL CHECK (NOT isempty(revisions) AND NOT lower_inf(revisions)),
  PRIMARY KEY (tenant_id, downstream_kind, downstream_id, downstream_version, cause_id, cause_version, revisions)
);
CREATE INDEX marks_cause ON knowledge.marks (tenant_id, cause_id, cause_version);

-- The event log from which every table above can be rebuilt: one row per row written or range closed, in order.
CREATE TABLE knowledge.fact_log (
  at timestamptz(3) NOT NULL,
  revision bigint NOT NULL,
  ordinal int NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  version int NOT NULL,
  kind text NOT NULL,
  body json NOT NULL
);
SELECT cleanslate.make_hypertable('knowledge.fact_log', 'at');
CREATE INDEX fact_log_revision ON knowledge.fact_log (revision, ordinal);
CREATE INDEX fact_log_fact ON knowledge.fact_log (tenant_id, knowledge_id, revision);

-- Which versions a step read or an answer cites.
CREATE TABLE knowledge.fact_usage (
  at timestamptz(3) NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  step_id text,
  attempt int,
  knowledge_id text COLLATE "C" NOT NULL,
  version int NOT NULL,
  revision bigint NOT NULL,
  rank int,
  purpose text NOT NULL CHECK (purpose IN ('read', 'cited'))
);
SELECT cleanslate.make_hypertable('knowledge.fact_usage', 'at');
CREATE INDEX fact_usage_version ON knowledge.fact_usage (tenant_id, knowledge_id, version, at);
CREATE INDEX fact_usage_task ON knowledge.fact_usage (tenant_id, task_id, at);

-- Every decision, also each refusal, with its reason and source message.
CREATE TABLE knowledge.audit (
  at timestamptz(3) NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  decision text NOT NULL,
  reason text NOT NULL,
  candidate_id text COLLATE "C",
  knowledge_id text COLLATE "C",
  version int,
  task_id text COLLATE "C",
  step_id text,
  attempt int,
  claim_id text,
  source_message_id text NOT NULL,
  revision bigint NOT NULL
);
SELECT cleanslate.make_hypertable('knowledge.audit', 'at');
CREATE INDEX audit_fact ON knowledge.audit (tenant_id, knowledge_id, at);
CREATE INDEX audit_task ON knowledge.audit (tenant_id, task_id, at);

-- Messages committed with the change they tell of; a row goes when its PubAck has come.
CREATE TABLE knowledge.outbox (
  outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream text NOT NULL,
  subject text NOT NULL,
  headers json NOT NULL,
  body text NOT NULL,
  message_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Answers to control requests, so that the same request id is answered the same again.
CREATE TABLE knowledge.requests (
  tenant_id text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  body_hash text NOT NULL,
  reply json NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, request_id)
);

-- A row changes only by closing its open revision range: history can't be rewritten, whoever connects.
CREATE FUNCTION knowledge.only_close_revisions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  closed int8range := NEW.revisions;
BEGIN
  NEW.revisions := OLD.revisions;
  IF NEW IS DISTINCT FROM OLD OR NOT upper_inf(OLD.revisions) OR upper_inf(closed) OR lower(closed) IS DISTINCT FROM lower(OLD.revisions) THEN
    RAISE EXCEPTION '%: a row changes only by closing its open revision range', TG_TABLE_NAME USING ERRCODE = 'CS002';
  END IF;
  NEW.revisions := closed;
  RETURN NEW;
END $$;
CREATE TRIGGER fact_versions_a_immutable BEFORE UPDATE ON knowledge.fact_versions FOR EACH ROW EXECUTE FUNCTION knowledge.only_close_revisions();
CREATE TRIGGER adjustments_immutable BEFORE UPDATE ON knowledge.adjustments FOR EACH ROW EXECUTE FUNCTION knowledge.only_close_revisions();
CREATE TRIGGER relations_immutable BEFORE UPDATE ON knowledge.relations FOR EACH ROW EXECUTE FUNCTION knowledge.only_close_revisions();
CREATE TRIGGER marks_immutable BEFORE UPDATE ON knowledge.marks FOR EACH ROW EXECUTE FUNCTION knowledge.only_close_revisions();

-- Fires after the check above: triggers fire in the order of their names.
CREATE FUNCTION knowledge.set_bounds() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.valid_from := coalesce(lower(NEW.valid), '-infinity');
  NEW.valid_until := coalesce(upper(NEW.valid), 'infinity');
  NEW.revision_from := lower(NEW.revisions);
  NEW.revision_until := coalesce(upper(NEW.revisions), 9007199254740991);
  RETURN NEW;
END $$;
CREATE TRIGGER fact_versions_b_bounds BEFORE INSERT OR UPDATE ON knowledge.fact_versions FOR EACH ROW EXECUTE FUNCTION knowledge.set_bounds();

CREATE FUNCTION knowledge.refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%: rows are never deleted', TG_TABLE_NAME USING ERRCODE = 'CS002';
END $$;
CREATE TRIGGER fact_versions_kept BEFORE DELETE OR TRUNCATE ON knowledge.fact_versions FOR EACH STATEMENT EXECUTE FUNCTION knowledge.refuse_delete();
CREATE TRIGGER revisions_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON knowledge.revisions FOR EACH STATEMENT EXECUTE FUNCTION knowledge.refuse_delete();

-- Ownership and rights. Append-only tables aren't granted to readers: a hypertable's chunks are tables of their own.
DO $$
DECLARE
  relation text;
BEGIN
  FOR relation IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'knowledge'::regnamespace AND c.relkind = 'r' LOOP
    EXECUTE format('ALTER TABLE knowledge.%I OWNER TO cleanslate_owner', relation);
    EXECUTE format('ALTER TABLE knowledge.%I ENABLE ROW LEVEL SECURITY', relation);
    EXECUTE format('ALTER TABLE knowledge.%I FORCE ROW LEVEL SECURITY', relation);
    EXECUTE format('CREATE POLICY maintainer_writes ON knowledge.%I TO cleanslate_maintainer USING (true) WITH CHECK (true)', relation);
    EXECUTE format('GRANT SELECT, INSERT ON knowledge.%I TO cleanslate_maintainer', relation);
  END LOOP;
  FOREACH relation IN ARRAY ARRAY['fact_versions', 'adjustments', 'sightings', 'fact_embeddings', 'fact_lexemes', 'disputes', 'relations', 'marks'] LOOP
    EXECUTE format('GRANT SELECT ON knowledge.%I TO cleanslate_knowledge_reader', relation);
    EXECUTE format('CREATE POLICY tenant_reads ON knowledge.%I FOR SELECT TO cleanslate_knowledge_reader USING (tenant_id = (SELECT cleanslate.reading_tenant()))', relation);
  END LOOP;
END $$;
ALTER FUNCTION knowledge.only_close_revisions() OWNER TO cleanslate_owner;
ALTER FUNCTION knowledge.set_bounds() OWNER TO cleanslate_owner;
ALTER FUNCTION knowledge.refuse_delete() OWNER TO cleanslate_owner;
GRANT USAGE ON SCHEMA knowledge TO cleanslate_maintainer, cleanslate_knowledge_reader, cleanslate_scheduler;
GRANT UPDATE (revisions) ON knowledge.fact_versions, knowledge.adjustments, knowledge.relations, knowledge.marks TO cleanslate_maintainer;
GRANT UPDATE (revisions, resolution, resolved_by) ON knowledge.disputes TO cleanslate_maintainer;
GRANT UPDATE ON knowledge.candidates, knowledge.settlements, knowledge.embedding_spaces TO cleanslate_maintainer;
GRANT DELETE ON knowledge.fact_embeddings, knowledge.candidates, knowledge.settlements, knowledge.outbox, knowledge.requests TO cleanslate_maintainer;
-- Revisions and spaces belong to no tenant. The scheduler pins tasks to the last revision.
GRANT SELECT ON knowledge.revisions TO cleanslate_scheduler, cleanslate_knowledge_reader;
GRANT SELECT ON knowledge.embedding_spaces TO cleanslate_knowledge_reader;
CREATE POLICY clock_reads ON knowledge.revisions FOR SELECT TO cleanslate_scheduler, cleanslate_knowledge_reader USING (true);
CREATE POLICY space_reads ON knowledge.embedding_spaces FOR SELECT TO cleanslate_knowledge_reader USING (true);
