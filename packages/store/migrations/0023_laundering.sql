-- Laundering: what was archived, the timetable with one leader, and the reports of its runs.

-- A version that is no longer believed but not refuted: it faded unused, or another fact says the same. What rests on it still stands. Open while nothing
-- newer is believed of the fact.
CREATE TABLE knowledge.archived (
  tenant_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  version int NOT NULL,
  -- The version that says the same, where it was merged.
  into_id text COLLATE "C",
  into_version int,
  revisions int8range NOT NULL CHECK (NOT isempty(revisions) AND NOT lower_inf(revisions)),
  PRIMARY KEY (tenant_id, knowledge_id, version)
);
CREATE TRIGGER archived_immutable BEFORE UPDATE ON knowledge.archived FOR EACH ROW EXECUTE FUNCTION knowledge.only_close_revisions();

CREATE TABLE knowledge.launderings (
  report_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  started_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3) NOT NULL,
  asked_by text NOT NULL CHECK (asked_by IN ('person', 'timetable')),
  revision bigint NOT NULL,
  -- Actions, proposals and measures, as the contract's report has them. Ids and numbers, no statements.
  body json NOT NULL
);
CREATE INDEX launderings_tenant ON knowledge.launderings (tenant_id, report_id DESC);

-- When each recurring duty is due. Whoever moves the time on has the turn: one leader, however many replicas look.
CREATE TABLE knowledge.timetable (
  duty text PRIMARY KEY,
  due_at timestamptz(3) NOT NULL
);
INSERT INTO knowledge.timetable VALUES ('laundering', now() + interval '1 hour'), ('indexes', now() + interval '1 hour');

DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['archived', 'launderings', 'timetable'] LOOP
    EXECUTE format('ALTER TABLE knowledge.%I OWNER TO cleanslate_owner', relation);
    EXECUTE format('ALTER TABLE knowledge.%I ENABLE ROW LEVEL SECURITY', relation);
    EXECUTE format('ALTER TABLE knowledge.%I FORCE ROW LEVEL SECURITY', relation);
    EXECUTE format('CREATE POLICY maintainer_writes ON knowledge.%I TO cleanslate_maintainer USING (true) WITH CHECK (true)', relation);
    EXECUTE format('GRANT SELECT, INSERT ON knowledge.%I TO cleanslate_maintainer', relation);
  END LOOP;
  FOREACH relation IN ARRAY ARRAY['archived', 'launderings'] LOOP
    EXECUTE format('CREATE POLICY tenant_reads ON knowledge.%I FOR SELECT TO cleanslate_knowledge_reader USING (tenant_id = (SELECT cleanslate.reading_tenant()))', relation);
    EXECUTE format('GRANT SELECT ON knowledge.%I TO cleanslate_knowledge_reader', relation);
  END LOOP;
END $$;
GRANT UPDATE (revisions) ON knowledge.archived TO cleanslate_maintainer;
GRANT UPDATE ON knowledge.timetable TO cleanslate_maintainer;
GRANT DELETE ON knowledge.launderings TO cleanslate_maintainer;

-- The tenants that have facts, by skipping along an index.
CREATE FUNCTION knowledge.tenants() RETURNS SETOF text STABLE LANGUAGE sql SET search_path = pg_catalog AS $$
  WITH RECURSIVE t AS (
    (SELECT tenant_id FROM knowledge.corpus_sizes ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT c.tenant_id FROM knowledge.corpus_sizes c WHERE c.tenant_id > t.tenant_id ORDER BY c.tenant_id LIMIT 1) FROM t WHERE t.tenant_id IS NOT NULL
  )
  SELECT tenant_id FROM t WHERE tenant_id IS NOT NULL
$$;

-- Fresh statistics, and the words that wait beside the index merged into it. For quiet hours: it reads much and locks nobody out.
CREATE FUNCTION knowledge.maintain_indexes() RETURNS void SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  PERFORM gin_clean_pending_list('knowledge.fact_lexemes_terms'::regclass);
  ANALYZE knowledge.fact_versions, knowledge.fact_lexemes, knowledge.fact_embeddings, knowledge.relations, knowledge.marks;
END $$;
ALTER FUNCTION knowledge.tenants() OWNER TO cleanslate_owner;
ALTER FUNCTION knowledge.maintain_indexes() OWNER TO cleanslate_owner;
REVOKE EXECUTE ON FUNCTION knowledge.tenants(), knowledge.maintain_indexes() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION knowledge.tenants(), knowledge.maintain_indexes() TO cleanslate_maintainer;
