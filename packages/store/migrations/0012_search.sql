-- Hybrid search: a text leg (BM25 over stems and Chinese characters) and a vector leg for each space.
-- The text and vector operators aren't leakproof, so row-level security would keep them from their indexes. Search runs in functions of a role
-- of its own that only reads; the tenant comes from the transaction's setting, never from an argument.
DO $$
BEGIN
  CREATE ROLE cleanslate_search NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL;
END $$;

-- Terms are cut by us (the same code for facts and queries) and begin with a hash of their tenant, so that an index scan can meet no other tenant's
-- rows. A weight stands for how often a term occurs: D once, C twice, B three or four times, A more. Rows of an older normaliser are cut anew by the maintainer.
DROP TABLE knowledge.fact_lexemes;
CREATE TABLE knowledge.fact_lexemes (
  fact_seq bigint PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  revision_from bigint NOT NULL,
  length int NOT NULL,
  terms tsvector NOT NULL,
  normaliser text NOT NULL
);
-- Read term by term: unpacking it each time would cost more than it saves.
ALTER TABLE knowledge.fact_lexemes ALTER COLUMN terms SET STORAGE EXTERNAL;
CREATE INDEX fact_lexemes_terms ON knowledge.fact_lexemes USING gin (terms);
-- Without statistics the planner may take a term for common and read the whole table.
ALTER TABLE knowledge.fact_lexemes ALTER COLUMN terms SET STATISTICS 200;

-- How many versions a tenant had at a revision, and of how many terms: what a term's rarity and a text's length are measured against, the same for
-- every later reader of that revision.
CREATE TABLE knowledge.corpus_sizes (
  tenant_id text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  versions bigint NOT NULL,
  terms bigint NOT NULL,
  PRIMARY KEY (tenant_id, revision)
);
INSERT INTO knowledge.corpus_sizes (tenant_id, revision, versions, terms)
SELECT tenant_id, revision_from, sum(count(*)) OVER tenant, (sum(sum(length(statement))) OVER tenant / 6)::bigint
FROM knowledge.fact_versions GROUP BY 1, 2 WINDOW tenant AS (PARTITION BY tenant_id ORDER BY revision_from);

CREATE INDEX fact_embeddings_tenant ON knowledge.fact_embeddings (space, tenant_id);
CREATE UNIQUE INDEX embedding_spaces_one_active ON knowledge.embedding_spaces (state) WHERE state = 'active';

CREATE FUNCTION knowledge.term_prefix(tenant text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
  SELECT left(md5(tenant), 6) || '.'
$$;

CREATE FUNCTION knowledge.to_term_query(prefix text, term text) RETURNS tsquery IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
  SELECT ('''' || replace(replace(prefix || term, '\', '\\'), '''', '''''') || '''')::tsquery
$$;

-- Best versions at the pin by BM25 (k1 = 1.2, b = 0.3). Terms in more than a fiftieth of the versions say little: they count only where
-- the query has no others. Everything is measured as of the revision, so that later writes change no rank.
CREATE FUNCTION knowledge.search_text(
  wanted text[], at_time timestamptz, at_revision bigint, levels text[], types text[], id_prefix text, with_tags text[], most int
) RETURNS TABLE (fact_seq bigint, score double precision)
STABLE SECURITY DEFINER LANGUAGE plpgsql
SET search_path = pg_catalog, public SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
  tenant text := cleanslate.reading_tenant();
  prefix text := knowledge.term_prefix(cleanslate.reading_tenant());
  corpus bigint;
  mean_length double precision;
  common bigint;
  hits int;
BEGIN
  SELECT c.versions, c.terms::double precision / c.versions INTO corpus, mean_length FROM knowledge.corpus_sizes c
    WHERE c.tenant_id = tenant AND c.revision <= at_revision ORDER BY c.revision DESC LIMIT 1;
  IF NOT FOUND THEN RETURN; END IF;
  common := greatest(1000, corpus / 50);
  FOR attempt IN 1..2 LOOP
    RETURN QUERY
    WITH posting AS MATERIALIZED (
      SELECT w.term, p.fact_seq, p.frequency, p.length
      FROM unnest(wanted) AS w (term)
      CROSS JOIN LATERAL (
        SELECT l.fact_seq, l.length, 8 * 1.64493406685 * ts_rank('{0.125,0.25,0.4375,0.75}', l.terms, knowledge.to_term_query(prefix, w.term)) AS frequency
        FROM knowledge.fact_lexemes l
        WHERE l.terms @@ knowledge.to_term_query(prefix, w.term) AND l.tenant_id = tenant AND l.revision_from <= at_revision
        LIMIT common + 1
      ) p
    ), counted AS (
      SELECT p.*, count(*) OVER (PARTITION BY p.term) AS holders FROM posting p
    ), scored AS MATERIALIZED (
      SELECT c.fact_seq, sum(ln(1 + (corpus - c.holders + 0.5) / (c.holders + 0.5)) * 2.2 * c.frequency
        / (c.frequency + 1.2 * (0.7 + 0.3 * c.length / mean_length))) AS score
      FROM counted c WHERE c.holders <= common GROUP BY c.fact_seq
    )
    SELECT s.fact_seq, s.score FROM (SELECT * FROM scored ORDER BY scored.score DESC, scored.fact_seq DESC) s
    CROSS JOIN LATERAL (
      SELECT FROM knowledge.fact_versions v
      WHERE v.fact_seq = s.fact_seq AND v.tenant_id = tenant
        AND v.valid_from <= at_time AND v.valid_until > at_time AND v.revision_from <= at_revision AND v.revision_until > at_revision
        AND (levels IS NULL OR v.access_level = ANY (levels)) AND (types IS NULL OR v.knowledge_type = ANY (types))
        AND (id_prefix IS NULL OR starts_with(v.knowledge_id, id_prefix)) AND (with_tags IS NULL OR v.tags @> with_tags)
    ) held
    ORDER BY s.score DESC, s.fact_seq DESC LIMIT most;
    GET DIAGNOSTICS hits = ROW_COUNT;
    EXIT WHEN hits > 0;
    -- Nothing but common words: then they are what is asked for.
    EXIT WHEN corpus <= common;
    common := corpus;
  END LOOP;
END $$;

-- Nearest versions at the pin in one space, by cosine distance. `exact` reads all vectors of the tenant; else the index is walked until enough rows
-- pass the filter, and where that gives too few, all vectors are read after all.
CREATE FUNCTION knowledge.search_vectors(
  in_space text, query text, exact boolean, at_time timestamptz, at_revision bigint, levels text[], types text[], id_prefix text, with_tags text[], most int
) RETURNS TABLE (fact_seq bigint, distance double precision)
VOLATILE SECURITY DEFINER LANGUAGE plpgsql
SET search_path = pg_catalog, public SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
  tenant text := cleanslate.reading_tenant();
  dimensions int := (SELECT s.dimension FROM knowledge.embedding_spaces s WHERE s.space = in_space);
  held text := 'CROSS JOIN LATERAL (
      SELECT FROM knowledge.fact_versions v
      WHERE v.fact_seq = e.fact_seq AND v.tenant_id = $2 AND v.valid_from <= $3 AND v.valid_until > $3 AND v.revision_from <= $4 AND v.revision_until > $4
        AND ($5::text[] IS NULL OR v.access_level = ANY ($5)) AND ($6::text[] IS NULL OR v.knowledge_type = ANY ($6))
        AND ($7::text IS NULL OR starts_with(v.knowledge_id, $7)) AND ($8::text[] IS NULL OR v.tags @> $8)
    ) held ORDER BY e.distance%s LIMIT $9';
  hits int := 0;
BEGIN
  IF dimensions IS NULL THEN
    RAISE EXCEPTION 'embedding space % is not known', in_space USING ERRCODE = 'CS003';
  END IF;
  IF vector_dims(query::vector) <> dimensions THEN
    RAISE EXCEPTION 'a query of % dimensions can''t be compared in space % of %', vector_dims(query::vector), in_space, dimensions USING ERRCODE = 'CS003';
  END IF;
  IF NOT exact THEN
    PERFORM set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', '200', true), set_config('hnsw.max_scan_tuples', '40000', true);
    RETURN QUERY EXECUTE format('SELECT e.fact_seq, e.distance FROM (
        SELECT i.fact_seq, i.embedding::vector(%1$s) <=> $1::vector(%1$s) AS distance FROM knowledge.fact_embeddings i
        WHERE i.space = %2$L AND i.tenant_id = $2 ORDER BY i.embedding::vector(%1$s) <=> $1::vector(%1$s)) e ' || format(held, ''), dimensions, in_space)
      USING query, tenant, at_time, at_revision, levels, types, id_prefix, with_tags, most;
    GET DIAGNOSTICS hits = ROW_COUNT;
    IF hits >= most THEN RETURN; END IF;
  END IF;
  -- Rows of the walk above come again; the caller takes each once.
  RETURN QUERY EXECUTE format('SELECT e.fact_seq, e.distance FROM (
      SELECT i.fact_seq, (i.embedding <=> $1::vector) + 0 AS distance FROM knowledge.fact_embeddings i
      WHERE i.space = %L AND i.tenant_id = $2 ORDER BY 2, 1 DESC) e ' || format(held, ', e.fact_seq DESC'), in_space)
    USING query, tenant, at_time, at_revision, levels, types, id_prefix, with_tags, most;
END $$;

-- The index of a space, once exact scans get slow. Building it lets readers read.
CREATE FUNCTION knowledge.build_vector_index(for_space text) RETURNS boolean
SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
  dimensions int := (SELECT s.dimension FROM knowledge.embedding_spaces s WHERE s.space = for_space);
  index_name text := 'fact_embeddings_' || left(md5(for_space), 16);
BEGIN
  -- The index type ends at 2,000 dimensions: beyond, every search is exact.
  IF dimensions IS NULL OR dimensions > 2000 OR to_regclass('knowledge.' || index_name) IS NOT NULL THEN RETURN false; END IF;
  EXECUTE format('CREATE INDEX %I ON knowledge.fact_embeddings USING hnsw ((embedding::vector(%s)) vector_cosine_ops) WHERE space = %L', index_name, dimensions, for_space);
  RETURN true;
END $$;

DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['fact_lexemes', 'corpus_sizes'] LOOP
    EXECUTE format('ALTER TABLE knowledge.%I OWNER TO cleanslate_owner', relation);
    EXECUTE format('ALTER TABLE knowledge.%I ENABLE ROW LEVEL SECURITY', relation);
    EXECUTE format('ALTER TABLE knowledge.%I FORCE ROW LEVEL SECURITY', relation);
    EXECUTE format('CREATE POLICY maintainer_writes ON knowledge.%I TO cleanslate_maintainer USING (true) WITH CHECK (true)', relation);
    EXECUTE format('GRANT SELECT, INSERT ON knowledge.%I TO cleanslate_maintainer', relation);
  END LOOP;
  FOREACH relation IN ARRAY ARRAY['fact_lexemes', 'corpus_sizes', 'fact_embeddings', 'fact_versions', 'embedding_spaces'] LOOP
    EXECUTE format('CREATE POLICY search_reads ON knowledge.%I FOR SELECT TO cleanslate_search USING (true)', relation);
    EXECUTE format('GRANT SELECT ON knowledge.%I TO cleanslate_search', relation);
  END LOOP;
END $$;
CREATE POLICY tenant_reads ON knowledge.corpus_sizes FOR SELECT TO cleanslate_knowledge_reader USING (tenant_id = (SELECT cleanslate.reading_tenant()));
GRANT SELECT ON knowledge.corpus_sizes TO cleanslate_knowledge_reader;
-- The builder of the index runs as the tables' owner, whom row-level security is forced upon.
CREATE POLICY owner_reads ON knowledge.embedding_spaces FOR SELECT TO cleanslate_owner USING (true);
GRANT UPDATE ON knowledge.fact_lexemes TO cleanslate_maintainer;
-- A version's number is drawn before it is written, so that its terms go in beside it.
GRANT USAGE ON SEQUENCE knowledge.fact_versions_fact_seq_seq TO cleanslate_maintainer;
GRANT USAGE ON SCHEMA knowledge, cleanslate TO cleanslate_search;
GRANT EXECUTE ON FUNCTION cleanslate.reading_tenant() TO cleanslate_search;
-- Vectors are read through search alone.
REVOKE SELECT ON knowledge.fact_embeddings FROM cleanslate_knowledge_reader;
ALTER FUNCTION knowledge.term_prefix(text) OWNER TO cleanslate_owner;
ALTER FUNCTION knowledge.to_term_query(text, text) OWNER TO cleanslate_owner;
ALTER FUNCTION knowledge.build_vector_index(text) OWNER TO cleanslate_owner;
-- A function's owner needs the right to create in its schema for a moment.
GRANT CREATE ON SCHEMA knowledge TO cleanslate_search;
ALTER FUNCTION knowledge.search_text(text[], timestamptz, bigint, text[], text[], text, text[], int) OWNER TO cleanslate_search;
ALTER FUNCTION knowledge.search_vectors(text, text, boolean, timestamptz, bigint, text[], text[], text, text[], int) OWNER TO cleanslate_search;
REVOKE CREATE ON SCHEMA knowledge FROM cleanslate_search;
REVOKE EXECUTE ON FUNCTION knowledge.search_text(text[], timestamptz, bigint, text[], text[], text, text[], int),
  knowledge.search_vectors(text, text, boolean, timestamptz, bigint, text[], text[], text, text[], int), knowledge.build_vector_index(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION knowledge.search_text(text[], timestamptz, bigint, text[], text[], text, text[], int),
  knowledge.search_vectors(text, text, boolean, timestamptz, bigint, text[], text[], text, text[], int) TO cleanslate_knowledge_reader;
GRANT EXECUTE ON FUNCTION knowledge.build_vector_index(text) TO cleanslate_maintainer;
