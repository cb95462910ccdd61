-- Tenants, roles and workflows that are added while the platform runs.
CREATE SCHEMA auth AUTHORIZATION cleanslate_owner;

-- A key is 256 random bits, so a plain SHA-256 of it can't be turned back, and nothing slower is needed. Revoked in the future: still good until then.
CREATE TABLE auth.api_keys (
  key_id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES ledger.tenants ON DELETE CASCADE,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
CREATE INDEX api_keys_tenant ON auth.api_keys (tenant_id, created_at);
ALTER TABLE auth.api_keys OWNER TO cleanslate_owner;

-- All that the gateway may ask: whose key hashes to this. It can't list keys, nor other tenants.
CREATE FUNCTION auth.find_api_key(wanted bytea) RETURNS TABLE (key_id text, tenant_id text, hash bytea)
STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog AS $$
  SELECT k.key_id, k.tenant_id, k.hash FROM auth.api_keys k
  WHERE k.hash = wanted AND (k.revoked_at IS NULL OR k.revoked_at > now())
$$;
ALTER FUNCTION auth.find_api_key(bytea) OWNER TO cleanslate_owner;
REVOKE EXECUTE ON FUNCTION auth.find_api_key(bytea) FROM PUBLIC;
GRANT USAGE ON SCHEMA auth TO cleanslate_gateway;
GRANT EXECUTE ON FUNCTION auth.find_api_key(bytea) TO cleanslate_gateway;

-- Roles beside the built-in ones: each has a NATS credential and a durable of its own.
CREATE TABLE auth.roles (role text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now());
ALTER TABLE auth.roles OWNER TO cleanslate_owner;

-- Workflows that workers brought along. Each belongs to the role that registered it first; running tasks keep their plan (ledger.plans).
CREATE TABLE ledger.workflows (
  workflow text PRIMARY KEY,
  role text NOT NULL,
  plan_hash text NOT NULL,
  plan json NOT NULL,
  registered_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE ledger.workflows OWNER TO cleanslate_owner;
GRANT SELECT, INSERT, UPDATE ON ledger.workflows TO cleanslate_scheduler;

-- Facts are never deleted, but for the whole of a tenant, by an administrator who says so. No service has the right to delete here at all.
CREATE OR REPLACE FUNCTION knowledge.refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'fact_versions' AND current_setting('cleanslate.erasing_tenant', true) = 'yes' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION '%: rows are never deleted', TG_TABLE_NAME USING ERRCODE = 'CS002';
END $$;
