-- Content that is erased on request: from facts and all that tells of them here, then by the scheduler from the ledger, which confirms in `ledger.erasures`.
-- Facts change in one more way now: they lose their content, by the hand of a role that can do nothing else.
DO $$
BEGIN
  CREATE ROLE cleanslate_eraser NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL;
END $$;

-- One secret for each tenant. What a hash without it stands for ("the salary is 30,000") could be found by trying.
CREATE TABLE knowledge.redaction_keys (
  tenant_id text COLLATE "C" PRIMARY KEY,
  key bytea NOT NULL CHECK (length(key) = 32)
);

CREATE TABLE knowledge.redactions (
  redaction_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  versions int[] NOT NULL,
  revision bigint NOT NULL,
  reason text NOT NULL,
  redacted_by text NOT NULL,
  redacted_at timestamptz(3) NOT NULL,
  source_message_id text NOT NULL,
  -- What is looked for in the ledger and the streams: wording, and hashes of it. Null once the scheduler has confirmed.
  phrases text[],
  hashes text[],
  confirmed_at timestamptz(3),
  CHECK ((confirmed_at IS NULL) = (phrases IS NOT NULL)),
  CHECK ((confirmed_at IS NULL) = (hashes IS NOT NULL))
);
-- No samples of what is to go.
ALTER TABLE knowledge.redactions ALTER COLUMN phrases SET STATISTICS 0, ALTER COLUMN hashes SET STATISTICS 0;
CREATE INDEX redactions_fact ON knowledge.redactions (tenant_id, knowledge_id, redaction_id);
CREATE INDEX redactions_recent ON knowledge.redactions (tenant_id, redaction_id DESC);
CREATE INDEX redactions_open ON knowledge.redactions (redaction_id) WHERE confirmed_at IS NULL;
-- What became of one fact, without reading the blackboard.
CREATE INDEX candidates_fact ON knowledge.candidates (tenant_id, knowledge_id) WHERE knowledge_id IS NOT NULL;

-- What may not come back, as keyed hashes of its wording and of its signature.
CREATE TABLE knowledge.redacted_contents (
  tenant_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  redaction_id bigint NOT NULL,
  PRIMARY KEY (tenant_id, hash)
);

-- How far the scheduler is with a redaction. `tasks`: those in whose rows something was erased.
CREATE TABLE ledger.erasures (
  redaction_id bigint PRIMARY KEY,
  tenant_id text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  tasks text[] NOT NULL DEFAULT '{}',
  rows bigint NOT NULL DEFAULT 0,
  objects bigint NOT NULL DEFAULT 0,
  messages bigint NOT NULL DEFAULT 0,
  -- Tasks with an attempt that began before: its report may still bring the content back.
  waits_for text[] NOT NULL DEFAULT '{}',
  looked_at timestamptz,
  done_at timestamptz
);
-- An object that was erased keeps its name; whoever submits its bytes again brings them back.
ALTER TABLE ledger.objects ADD COLUMN redacted_at timestamptz;

-- A row changes only by closing its open revision range, or by losing its content.
CREATE OR REPLACE FUNCTION knowledge.only_close_revisions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  closed int8range := NEW.revisions;
  kept jsonb;
BEGIN
  IF current_user = 'cleanslate_eraser' THEN
    kept := to_jsonb(OLD) - ARRAY['statement', 'subject', 'predicate', 'value', 'unit', 'polarity', 'modality', 'fact_key', 'signature', 'content_hash',
      'source_ref', 'lineage', 'tags', 'redacted_revision', 'reason'];
    IF NOT to_jsonb(NEW) @> kept THEN
      RAISE EXCEPTION '%: erasing changes nothing but content', TG_TABLE_NAME USING ERRCODE = 'CS002';
    END IF;
    RETURN NEW;
  END IF;
  NEW.revisions := OLD.revisions;
  IF NEW IS DISTINCT FROM OLD OR NOT upper_inf(OLD.revisions) OR upper_inf(closed) OR lower(closed) IS DISTINCT FROM lower(OLD.revisions) THEN
    RAISE EXCEPTION '%: a row changes only by closing its open revision range', TG_TABLE_NAME USING ERRCODE = 'CS002';
  END IF;
  NEW.revisions := closed;
  RETURN NEW;
END $$;

-- Versions become tombstones: empty statement, no assertion, keyed hashes in the place of those of the content; the log says the same, so that a rebuild does.
-- `tombs`: [{version, signature, content_hash}].
CREATE FUNCTION knowledge.erase_versions(of_tenant text, of_fact text, tombs json, at_revision bigint) RETURNS int
SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
  erased int;
BEGIN
  UPDATE knowledge.fact_versions v SET statement = '', subject = NULL, predicate = NULL, value = NULL, unit = NULL, polarity = NULL, modality = NULL,
    fact_key = NULL, signature = x.signature, content_hash = x.content_hash, source_ref = 'redacted', lineage = '{}', tags = '{}', redacted_revision = at_revision
  FROM json_to_recordset(tombs) AS x (version int, signature text, content_hash text)
  WHERE v.tenant_id = of_tenant AND v.knowledge_id = of_fact AND v.version = x.version AND v.redacted_revision IS NULL;
  GET DIAGNOSTICS erased = ROW_COUNT;
  UPDATE knowledge.fact_log l SET body = (l.body::jsonb || jsonb_build_object('statement', '', 'subject', NULL, 'predicate', NULL, 'value', NULL, 'unit', NULL,
    'polarity', NULL, 'modality', NULL, 'fact_key', NULL, 'signature', x.signature, 'content_hash', x.content_hash, 'source_ref', 'redacted',
    'lineage', '[]'::jsonb, 'tags', '[]'::jsonb, 'redacted_revision', at_revision))::json
  FROM json_to_recordset(tombs) AS x (version int, signature text, content_hash text)
  WHERE l.tenant_id = of_tenant AND l.knowledge_id = of_fact AND l.version = x.version AND l.kind = 'asserted';
  UPDATE knowledge.adjustments a SET reason = 'redacted' FROM json_to_recordset(tombs) AS x (version int)
  WHERE a.tenant_id = of_tenant AND a.knowledge_id = of_fact AND a.version = x.version;
  RETURN erased;
END $$;

-- Free text in the audit: what is said of redacted versions, and wherever their words stand.
CREATE FUNCTION knowledge.erase_audit(of_tenant text, of_fact text, of_versions int[], phrases text[]) RETURNS int
SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
  erased int;
BEGIN
  UPDATE knowledge.audit SET reason = 'redacted'
  WHERE tenant_id = of_tenant AND decision <> 'redacted' AND reason <> 'redacted'
    AND (knowledge_id = of_fact AND version = ANY (of_versions) OR EXISTS (SELECT FROM unnest(phrases) f WHERE position(lower(f) IN lower(reason)) > 0));
  GET DIAGNOSTICS erased = ROW_COUNT;
  RETURN erased;
END $$;

DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['redaction_keys', 'redactions', 'redacted_contents'] LOOP
    EXECUTE format('ALTER TABLE knowledge.%I OWNER TO cleanslate_owner', relation);
    EXECUTE format('ALTER TABLE knowledge.%I ENABLE ROW LEVEL SECURITY', relation);
    EXECUTE format('ALTER TABLE knowledge.%I FORCE ROW LEVEL SECURITY', relation);
    EXECUTE format('CREATE POLICY maintainer_writes ON knowledge.%I TO cleanslate_maintainer USING (true) WITH CHECK (true)', relation);
    EXECUTE format('GRANT SELECT, INSERT ON knowledge.%I TO cleanslate_maintainer', relation);
  END LOOP;
  FOREACH relation IN ARRAY ARRAY['fact_versions', 'fact_log', 'adjustments', 'audit'] LOOP
    EXECUTE format('CREATE POLICY eraser_writes ON knowledge.%I TO cleanslate_eraser USING (true) WITH CHECK (true)', relation);
    EXECUTE format('GRANT SELECT ON knowledge.%I TO cleanslate_eraser', relation);
  END LOOP;
END $$;
GRANT USAGE ON SCHEMA knowledge TO cleanslate_eraser;
GRANT UPDATE (statement, subject, predicate, value, unit, polarity, modality, fact_key, signature, content_hash, source_ref, lineage, tags, redacted_revision)
  ON knowledge.fact_versions TO cleanslate_eraser;
GRANT UPDATE (body) ON knowledge.fact_log TO cleanslate_eraser;
GRANT UPDATE (reason) ON knowledge.adjustments, knowledge.audit TO cleanslate_eraser;
GRANT UPDATE (phrases, hashes, confirmed_at) ON knowledge.redactions TO cleanslate_maintainer;
GRANT UPDATE (challenger, challenger_signature, reason, resolution_reason) ON knowledge.disputes TO cleanslate_maintainer;
GRANT UPDATE (source_ref) ON knowledge.sightings TO cleanslate_maintainer;
GRANT UPDATE (body) ON knowledge.outbox TO cleanslate_maintainer;
-- Readers see that, when, why and by whom; the words go to the scheduler alone.
GRANT SELECT (redaction_id, tenant_id, knowledge_id, versions, revision, reason, redacted_by, redacted_at, confirmed_at) ON knowledge.redactions TO cleanslate_knowledge_reader;
CREATE POLICY tenant_reads ON knowledge.redactions FOR SELECT TO cleanslate_knowledge_reader USING (tenant_id = (SELECT cleanslate.reading_tenant()));
GRANT SELECT ON knowledge.redactions TO cleanslate_scheduler;
CREATE POLICY scheduler_reads ON knowledge.redactions FOR SELECT TO cleanslate_scheduler USING (true);

ALTER TABLE ledger.erasures OWNER TO cleanslate_owner;
ALTER TABLE ledger.erasures ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger.erasures FORCE ROW LEVEL SECURITY;
CREATE POLICY scheduler_all ON ledger.erasures TO cleanslate_scheduler USING (true) WITH CHECK (true);
CREATE POLICY owner_all ON ledger.erasures TO cleanslate_owner USING (true) WITH CHECK (true);
CREATE POLICY maintainer_reads ON ledger.erasures FOR SELECT TO cleanslate_maintainer USING (true);
CREATE POLICY tenant_reads ON ledger.erasures FOR SELECT TO cleanslate_gateway USING (tenant_id = (SELECT cleanslate.reading_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON ledger.erasures TO cleanslate_scheduler;
GRANT SELECT ON ledger.erasures TO cleanslate_maintainer, cleanslate_gateway;
GRANT USAGE ON SCHEMA ledger TO cleanslate_maintainer;
GRANT UPDATE (detail) ON ledger.refusals, ledger.repairs TO cleanslate_scheduler;

GRANT CREATE ON SCHEMA knowledge TO cleanslate_eraser;
ALTER FUNCTION knowledge.erase_versions(text, text, json, bigint) OWNER TO cleanslate_eraser;
ALTER FUNCTION knowledge.erase_audit(text, text, int[], text[]) OWNER TO cleanslate_eraser;
REVOKE CREATE ON SCHEMA knowledge FROM cleanslate_eraser;
REVOKE EXECUTE ON FUNCTION knowledge.erase_versions(text, text, json, bigint), knowledge.erase_audit(text, text, int[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION knowledge.erase_versions(text, text, json, bigint), knowledge.erase_audit(text, text, int[], text[]) TO cleanslate_maintainer;

-- What the planner knows of columns is samples of them: they are taken anew when a redaction is confirmed. The tables' owner may do that, and nobody else.
CREATE FUNCTION knowledge.sample_anew() RETURNS void SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
  relation text;
BEGIN
  FOR relation IN SELECT c.oid::regclass::text FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
    WHERE c.relnamespace IN ('knowledge'::regnamespace, 'ledger'::regnamespace) AND c.relkind = 'r' AND r.rolname = 'cleanslate_owner' ORDER BY 1 LOOP
    EXECUTE 'ANALYZE ' || relation;
  END LOOP;
END $$;
ALTER FUNCTION knowledge.sample_anew() OWNER TO cleanslate_owner;
REVOKE EXECUTE ON FUNCTION knowledge.sample_anew() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION knowledge.sample_anew() TO cleanslate_maintainer;
