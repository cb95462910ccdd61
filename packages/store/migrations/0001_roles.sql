-- Roles are shared by all databases of a server, so two migrations may run into each other here.
DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['cleanslate_owner', 'cleanslate_knowledge_reader', 'cleanslate_scheduler', 'cleanslate_maintainer',
                                   'cleanslate_gateway', 'cleanslate_retriever', 'cleanslate_validator'] LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL;
    END;
  END LOOP;
  GRANT cleanslate_knowledge_reader TO cleanslate_gateway, cleanslate_retriever, cleanslate_validator;
EXCEPTION WHEN unique_violation OR serialization_failure THEN
  NULL; -- another migration granted it at the same moment
END $$;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'timescaledb') THEN
    CREATE EXTENSION IF NOT EXISTS timescaledb;
  END IF;
END $$;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS btree_gist;

-- Append-only tables become hypertables where the extension is there; elsewhere they stay plain, with the same meaning.
CREATE FUNCTION cleanslate.make_hypertable(relation regclass, time_column name) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') THEN
    PERFORM create_hypertable(relation, time_column, chunk_time_interval => interval '7 days', create_default_indexes => false);
  END IF;
END $$;

-- The tenant a reader sees, set for one transaction. Unset is an error: a pooled session keeps '' from an earlier transaction, so the bare
-- setting would quietly show nothing.
CREATE FUNCTION cleanslate.reading_tenant() RETURNS text STABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
DECLARE
  tenant text := current_setting('cleanslate.tenant', true);
BEGIN
  IF tenant IS NULL OR tenant = '' THEN
    RAISE EXCEPTION 'cleanslate.tenant is not set: rows are read for one tenant at a time' USING ERRCODE = '42501';
  END IF;
  RETURN tenant;
END $$;
ALTER FUNCTION cleanslate.reading_tenant() OWNER TO cleanslate_owner;

GRANT USAGE ON SCHEMA cleanslate TO cleanslate_scheduler, cleanslate_maintainer, cleanslate_gateway, cleanslate_retriever, cleanslate_validator;
GRANT SELECT ON cleanslate.schema_migrations TO cleanslate_scheduler, cleanslate_maintainer, cleanslate_gateway, cleanslate_retriever, cleanslate_validator;
