-- Admission: who is next, found by index whatever waits behind; limits per tenant and workflow. Schedules: tasks that start by the clock.

-- Copied from the task, so that one index leads to the next step of each line (role, tenant, workflow, priority).
ALTER TABLE ledger.steps
  ADD COLUMN workflow text NOT NULL DEFAULT '',
  ADD COLUMN priority smallint NOT NULL DEFAULT 1;
UPDATE ledger.steps s SET workflow = t.workflow, priority = t.priority FROM ledger.tasks t WHERE t.task_seq = s.task_seq;

DROP INDEX ledger.steps_ready, ledger.steps_in_flight;
CREATE INDEX steps_ready ON ledger.steps (role, tenant_id, workflow, priority, ready_at) WHERE phase = 'ready';
CREATE INDEX steps_in_flight ON ledger.steps (role, tenant_id, workflow) WHERE phase IN ('dispatched', 'executing');
-- Only steps that wait longer than the transaction that made them ready are ever in it.
CREATE INDEX steps_look ON ledger.steps (due_at) WHERE phase = 'ready';

-- Steps of a tenant that may be dispatched or executing at once: workflow '' counts all of them.
CREATE TABLE ledger.limits (
  tenant_id text NOT NULL REFERENCES ledger.tenants ON DELETE CASCADE,
  workflow text NOT NULL DEFAULT '',
  max_running int NOT NULL CHECK (max_running >= 0),
  PRIMARY KEY (tenant_id, workflow)
);

-- Whose step of a role was let out last while several tenants waited: of equals, the next one has the turn.
CREATE TABLE ledger.turns (role text PRIMARY KEY, tenant_id text NOT NULL);

CREATE TABLE ledger.schedules (
  schedule_seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES ledger.tenants ON DELETE CASCADE,
  schedule_id text NOT NULL,
  workflow text NOT NULL,
  input json NOT NULL,
  cron text NOT NULL,
  time_zone text NOT NULL,
  overlap text NOT NULL CHECK (overlap IN ('skip', 'queue', 'replace')),
  missed text NOT NULL CHECK (missed IN ('skip', 'once', 'all')),
  -- Missed runs made up for, and runs that may wait for an earlier one, at most.
  backlog int NOT NULL CHECK (backlog BETWEEN 1 AND 1000),
  deadline_ms bigint,
  priority text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  -- The next due time not yet decided; null where the clock will never reach one.
  next_due_at timestamptz,
  -- Due times whose task waits for an earlier run's end (overlap 'queue'), oldest first.
  waiting_runs timestamptz[] NOT NULL DEFAULT '{}',
  -- The newest run; what overlaps is decided by its state.
  last_task_id text,
  last_due_at timestamptz,
  last_error json,
  runs bigint NOT NULL DEFAULT 0,
  skipped bigint NOT NULL DEFAULT 0,
  -- A failed try is repeated then: nothing is lost while a workflow is missing or the database is short of breath.
  retry_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, schedule_id)
);
CREATE INDEX schedules_due ON ledger.schedules (next_due_at) WHERE enabled AND next_due_at IS NOT NULL;
CREATE INDEX schedules_waiting ON ledger.schedules (schedule_seq) WHERE waiting_runs <> '{}';

DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['limits', 'turns', 'schedules'] LOOP
    EXECUTE format('ALTER TABLE ledger.%I OWNER TO cleanslate_owner', relation);
  END LOOP;
END $$;
GRANT SELECT ON ledger.limits TO cleanslate_scheduler;
GRANT SELECT, INSERT, UPDATE, DELETE ON ledger.turns, ledger.schedules TO cleanslate_scheduler;
GRANT SELECT ON ledger.schedules TO cleanslate_gateway;
ALTER TABLE ledger.schedules ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger.schedules FORCE ROW LEVEL SECURITY;
CREATE POLICY scheduler_all ON ledger.schedules TO cleanslate_scheduler USING (true) WITH CHECK (true);
CREATE POLICY owner_all ON ledger.schedules TO cleanslate_owner USING (true) WITH CHECK (true);
CREATE POLICY tenant_reads ON ledger.schedules FOR SELECT TO cleanslate_gateway USING (tenant_id = (SELECT cleanslate.reading_tenant()));
