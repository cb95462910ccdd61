-- Calls of models: what all workers share (requests at once, tokens, costs), and what each task used.

-- A limit holds for one tenant or for each of them together (null), for one model or for all together (''). Of several that fit a call, each holds.
CREATE TABLE ledger.model_limits (
  tenant_id text REFERENCES ledger.tenants ON DELETE CASCADE,
  model text NOT NULL DEFAULT '',
  max_requests int CHECK (max_requests >= 0),
  tokens_per_minute bigint CHECK (tokens_per_minute >= 0),
  tokens_per_day bigint CHECK (tokens_per_day >= 0),
  cost_per_day float8 CHECK (cost_per_day >= 0),
  UNIQUE NULLS NOT DISTINCT (tenant_id, model)
);

-- One row for each request that is under way or was lately. Its holder renews it; one that died leaves a row that expires: the slot is free then, what was reserved stays
-- counted, since nobody knows what was used.
CREATE TABLE ledger.model_calls (
  call_id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES ledger.tenants ON DELETE CASCADE,
  model text NOT NULL,
  started_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  -- Reserved; once it has ended, used.
  tokens bigint NOT NULL,
  cost float8 NOT NULL DEFAULT 0
);
CREATE INDEX model_calls_open ON ledger.model_calls (model, tenant_id) WHERE ended_at IS NULL;
CREATE INDEX model_calls_recent ON ledger.model_calls (started_at);

-- What a tenant used of a model on a day (UTC).
CREATE TABLE ledger.model_spend (
  day date NOT NULL,
  tenant_id text NOT NULL REFERENCES ledger.tenants ON DELETE CASCADE,
  model text NOT NULL,
  requests bigint NOT NULL DEFAULT 0,
  tokens bigint NOT NULL DEFAULT 0,
  cost float8 NOT NULL DEFAULT 0,
  PRIMARY KEY (day, tenant_id, model)
);

-- What a task used, also by attempts that were cancelled, lost or given up on.
CREATE TABLE ledger.task_model_usage (
  task_seq bigint NOT NULL REFERENCES ledger.tasks ON DELETE CASCADE,
  tenant_id text NOT NULL,
  model text NOT NULL,
  requests bigint NOT NULL DEFAULT 0,
  prompt_tokens bigint NOT NULL DEFAULT 0,
  completion_tokens bigint NOT NULL DEFAULT 0,
  cost float8,
  PRIMARY KEY (task_seq, model)
);

DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['model_limits', 'model_calls', 'model_spend', 'task_model_usage'] LOOP
    EXECUTE format('ALTER TABLE ledger.%I OWNER TO cleanslate_owner', relation);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ledger.%I TO cleanslate_scheduler', relation);
  END LOOP;
END $$;

ALTER TABLE ledger.task_model_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger.task_model_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY scheduler_all ON ledger.task_model_usage TO cleanslate_scheduler USING (true) WITH CHECK (true);
CREATE POLICY owner_all ON ledger.task_model_usage TO cleanslate_owner USING (true) WITH CHECK (true);
CREATE POLICY tenant_reads ON ledger.task_model_usage FOR SELECT TO cleanslate_gateway USING (tenant_id = (SELECT cleanslate.reading_tenant()));
GRANT SELECT ON ledger.task_model_usage TO cleanslate_gateway;
