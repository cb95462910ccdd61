-- Up to which version (`fact_seq`) a space has a vector of every one that can have one: what a search at a pin would miss lies behind it. Kept by the
-- maintainer as it embeds, in the order of writing.
ALTER TABLE knowledge.embedding_spaces ADD COLUMN embedded_until bigint NOT NULL DEFAULT 0;
UPDATE knowledge.embedding_spaces s SET embedded_until =
  coalesce((SELECT e.fact_seq FROM knowledge.fact_embeddings e WHERE e.space = s.space ORDER BY e.fact_seq DESC LIMIT 1), 0);

-- Of the versions believed at a revision, those whose vectors are still to come; more than a thousand are not counted. Older releases keep no `embedded_until`,
-- so each is looked at. A custom plan, for the range is as good as empty or nearly the table.
CREATE FUNCTION knowledge.count_pending_vectors(in_space text, at_revision bigint) RETURNS bigint
STABLE SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, public SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  tenant text := cleanslate.reading_tenant();
  done bigint := (SELECT s.embedded_until FROM knowledge.embedding_spaces s WHERE s.space = in_space);
BEGIN
  RETURN (SELECT count(*) FROM (
    SELECT FROM knowledge.fact_versions v
    WHERE v.fact_seq > done AND v.tenant_id = tenant AND v.revision_from <= at_revision AND v.revision_until > at_revision AND v.redacted_revision IS NULL
      AND NOT EXISTS (SELECT FROM knowledge.fact_embeddings e WHERE e.fact_seq = v.fact_seq AND e.space = in_space)
    LIMIT 1000) pending);
END $$;
GRANT CREATE ON SCHEMA knowledge TO cleanslate_search;
ALTER FUNCTION knowledge.count_pending_vectors(text, bigint) OWNER TO cleanslate_search;
REVOKE CREATE ON SCHEMA knowledge FROM cleanslate_search;
REVOKE EXECUTE ON FUNCTION knowledge.count_pending_vectors(text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION knowledge.count_pending_vectors(text, bigint) TO cleanslate_knowledge_reader;
