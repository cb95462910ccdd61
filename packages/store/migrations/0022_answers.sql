-- Which fact versions tasks read, and answers as nodes of the graph: what a task's result rests on is marked like a fact when that falls.

-- One row for each completed task whose result names fact versions. Their edges are in `relations` (downstream_kind 'answer', version 1).
CREATE TABLE knowledge.answers (
  tenant_id text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  answered_at timestamptz(3) NOT NULL,
  -- The moment it was asked about; null: the present, so that it ages as what it rests on does.
  holds_at timestamptz(3),
  revision bigint NOT NULL,
  PRIMARY KEY (tenant_id, task_id)
);

-- A settlement said again writes nothing again: `at` is when the step ended, which a repetition says the same. The answer itself counts as step ''.
CREATE UNIQUE INDEX fact_usage_once ON knowledge.fact_usage (tenant_id, task_id, step_id, attempt, purpose, knowledge_id, version, at);
DROP INDEX knowledge.fact_usage_task;

ALTER TABLE knowledge.answers OWNER TO cleanslate_owner;
ALTER TABLE knowledge.answers ENABLE ROW LEVEL SECURITY;
ALTER TABLE knowledge.answers FORCE ROW LEVEL SECURITY;
CREATE POLICY maintainer_writes ON knowledge.answers TO cleanslate_maintainer USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON knowledge.answers TO cleanslate_maintainer;
CREATE POLICY tenant_reads ON knowledge.answers FOR SELECT TO cleanslate_knowledge_reader USING (tenant_id = (SELECT cleanslate.reading_tenant()));
GRANT SELECT ON knowledge.answers TO cleanslate_knowledge_reader;

-- Usage is append-only and granted to no reader: these functions hand out the reading tenant's rows.
CREATE POLICY owner_reads ON knowledge.fact_usage FOR SELECT TO cleanslate_owner USING (true);
CREATE FUNCTION knowledge.task_reads(wanted text, at_most int)
RETURNS TABLE (at timestamptz, step_id text, attempt int, knowledge_id text, version int, rank int, purpose text)
STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog AS $$
  SELECT u.at, u.step_id, u.attempt, u.knowledge_id, u.version, u.rank, u.purpose FROM knowledge.fact_usage u
  WHERE u.tenant_id = cleanslate.reading_tenant() AND u.task_id = wanted ORDER BY u.at, u.step_id, u.rank LIMIT at_most
$$;

CREATE FUNCTION knowledge.fact_readers(wanted text, of_version int, at_most int)
RETURNS TABLE (at timestamptz, task_id text, step_id text, version int, rank int, purpose text)
STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog AS $$
  SELECT u.at, u.task_id, u.step_id, u.version, u.rank, u.purpose FROM knowledge.fact_usage u
  WHERE u.tenant_id = cleanslate.reading_tenant() AND u.knowledge_id = wanted AND (of_version IS NULL OR u.version = of_version)
  ORDER BY u.at DESC, u.task_id, u.step_id, u.version LIMIT at_most
$$;

DO $$
DECLARE
  signature text;
BEGIN
  FOREACH signature IN ARRAY ARRAY['task_reads(text, int)', 'fact_readers(text, int, int)'] LOOP
    EXECUTE format('ALTER FUNCTION knowledge.%s OWNER TO cleanslate_owner', signature);
    EXECUTE format('REVOKE EXECUTE ON FUNCTION knowledge.%s FROM PUBLIC', signature);
    EXECUTE format('GRANT EXECUTE ON FUNCTION knowledge.%s TO cleanslate_gateway', signature);
  END LOOP;
END $$;
