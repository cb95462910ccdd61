-- The task ledger: the record of tasks, steps, attempts and effects. Written by cleanslate_scheduler alone.
CREATE SCHEMA ledger AUTHORIZATION cleanslate_owner;

CREATE DOMAIN ledger.state AS text CHECK (VALUE IN ('pending', 'executing', 'awaiting_validation', 'completed', 'failed'));

-- One row: epoch (raised when a restored ledger takes over), the last event position given out, and the last one published.
CREATE TABLE ledger.meta (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  epoch bigint NOT NULL DEFAULT 1,
  position bigint NOT NULL DEFAULT 0,
  published_position bigint NOT NULL DEFAULT 0
);
INSERT INTO ledger.meta DEFAULT VALUES;

CREATE TABLE ledger.tenants (
  tenant_id text PRIMARY KEY,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Compiled plans by hash: a running task keeps the plan it was accepted with.
CREATE TABLE ledger.plans (
  plan_hash text PRIMARY KEY,
  workflow text NOT NULL,
  plan json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE ledger.objects (
  tenant_id text NOT NULL,
  sha256 text NOT NULL,
  bytes bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, sha256)
);

CREATE TABLE ledger.tasks (
  task_seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES ledger.tenants,
  task_id text NOT NULL,
  idempotency_key text,
  -- Hash of workflow and input: the same key with another body is a conflict.
  body_hash text NOT NULL,
  submit_id text NOT NULL,
  workflow text NOT NULL,
  plan_hash text NOT NULL REFERENCES ledger.plans,
  state ledger.state NOT NULL,
  priority smallint NOT NULL,
  round int NOT NULL,
  -- Rounds before this one don't count against maxRounds (an operator's retry resets them).
  round_base int NOT NULL,
  input json NOT NULL,
  result json,
  error json,
  pin_valid_at timestamptz NOT NULL,
  pin_revision bigint NOT NULL,
  deadline timestamptz NOT NULL,
  deadline_ms bigint NOT NULL,
  traceparent text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (tenant_id, task_id),
  UNIQUE (tenant_id, idempotency_key)
);
CREATE INDEX tasks_deadline ON ledger.tasks (deadline) WHERE state NOT IN ('completed', 'failed');
CREATE INDEX tasks_recent ON ledger.tasks (tenant_id, created_at DESC, task_seq DESC);

CREATE TABLE ledger.steps (
  task_seq bigint NOT NULL REFERENCES ledger.tasks ON DELETE CASCADE,
  step_id text NOT NULL,
  -- Order of creation within the task.
  ordinal int NOT NULL,
  tenant_id text NOT NULL,
  plan_key text NOT NULL,
  supersedes text,
  role text NOT NULL,
  executor text NOT NULL,
  after json NOT NULL,
  state ledger.state NOT NULL,
  phase text NOT NULL CHECK (phase IN ('blocked', 'ready', 'dispatched', 'executing', 'backing_off', 'done', 'failed')),
  round int NOT NULL,
  -- attempt: dispatches after a claim, only grows. spent: what the retry policy counts. ring: doorbells of the attempt.
  attempt int NOT NULL,
  spent int NOT NULL,
  ring int NOT NULL,
  silent_claims int NOT NULL,
  claim_id text,
  worker text,
  -- A heartbeat named the claim at least once.
  beaten boolean NOT NULL,
  -- Claims whose report was applied, as 'attempt:claim': a second delivery is a duplicate, not stale.
  applied json NOT NULL,
  -- ready: next admission look; dispatched: ring check; executing: lease; backing_off: next attempt.
  due_at timestamptz,
  timeout_at timestamptz,
  queue_expires_at timestamptz,
  ready_at timestamptz,
  doorbell_seq bigint,
  started_at timestamptz,
  ended_at timestamptz,
  output json,
  feedback json,
  error json,
  failures json NOT NULL,
  candidates json NOT NULL,
  -- The dead letter whose replay the present attempt is.
  replay_of text,
  PRIMARY KEY (task_seq, step_id),
  CHECK (phase NOT IN ('ready', 'dispatched', 'executing', 'backing_off') OR due_at IS NOT NULL)
);
CREATE INDEX steps_due ON ledger.steps (due_at) WHERE phase IN ('dispatched', 'executing', 'backing_off');
CREATE INDEX steps_timeout ON ledger.steps (timeout_at) WHERE phase = 'executing';
CREATE INDEX steps_queue ON ledger.steps (queue_expires_at) WHERE phase IN ('ready', 'dispatched', 'backing_off') AND queue_expires_at IS NOT NULL;
CREATE INDEX steps_ready ON ledger.steps (role, ready_at) WHERE phase = 'ready';
CREATE INDEX steps_in_flight ON ledger.steps (role) WHERE phase IN ('dispatched', 'executing');

-- The transition table, once in the database. The code's copy is packages/domain/src/tasks/transitions.ts; a test compares the two.
CREATE TABLE ledger.allowed_transitions (kind text NOT NULL, from_state ledger.state NOT NULL, to_state ledger.state NOT NULL, PRIMARY KEY (kind, from_state, to_state));
INSERT INTO ledger.allowed_transitions VALUES
  ('task', 'pending', 'executing'), ('task', 'executing', 'awaiting_validation'), ('task', 'executing', 'completed'),
  ('task', 'awaiting_validation', 'completed'), ('task', 'awaiting_validation', 'executing'),
  ('task', 'pending', 'failed'), ('task', 'executing', 'failed'), ('task', 'awaiting_validation', 'failed'), ('task', 'failed', 'pending'),
  ('step', 'pending', 'executing'), ('step', 'executing', 'awaiting_validation'), ('step', 'executing', 'completed'), ('step', 'executing', 'pending'),
  ('step', 'awaiting_validation', 'completed'),
  ('step', 'pending', 'failed'), ('step', 'executing', 'failed'), ('step', 'awaiting_validation', 'failed'), ('step', 'failed', 'pending');

CREATE FUNCTION ledger.check_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'pending' THEN
      RAISE EXCEPTION '% must start as pending, not %', TG_ARGV[0], NEW.state USING ERRCODE = 'CS001';
    END IF;
  ELSIF NEW.state <> OLD.state AND NOT EXISTS (
    SELECT FROM ledger.allowed_transitions WHERE kind = TG_ARGV[0] AND from_state = OLD.state AND to_state = NEW.state
  ) THEN
    RAISE EXCEPTION '% may not go from % to %', TG_ARGV[0], OLD.state, NEW.state USING ERRCODE = 'CS001';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER tasks_insert BEFORE INSERT ON ledger.tasks FOR EACH ROW EXECUTE FUNCTION ledger.check_transition('task');
CREATE TRIGGER tasks_transition BEFORE UPDATE OF state ON ledger.tasks FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION ledger.check_transition('task');
CREATE TRIGGER steps_insert BEFORE INSERT ON ledger.steps FOR EACH ROW EXECUTE FUNCTION ledger.check_transition('step');
CREATE TRIGGER steps_transition BEFORE UPDATE OF state ON ledger.steps FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION ledger.check_transition('step');

-- Every change of state, for ever append-only.
CREATE TABLE ledger.transitions (
  at timestamptz NOT NULL,
  transition_id bigint GENERATED ALWAYS AS IDENTITY,
  task_seq bigint NOT NULL,
  tenant_id text NOT NULL,
  step_id text,
  from_state text,
  to_state text NOT NULL,
  trigger text NOT NULL,
  attempt int,
  spent int,
  round int,
  claim_id text,
  worker text,
  code text
);
SELECT cleanslate.make_hypertable('ledger.transitions', 'at');
CREATE INDEX transitions_task ON ledger.transitions (task_seq, transition_id);

-- What was refused: stale attempts, illegal moves, conflicts.
CREATE TABLE ledger.refusals (
  at timestamptz NOT NULL,
  tenant_id text NOT NULL,
  task_id text NOT NULL,
  step_id text,
  attempt int,
  claim_id text,
  code text NOT NULL,
  detail text NOT NULL
);
SELECT cleanslate.make_hypertable('ledger.refusals', 'at');
CREATE INDEX refusals_task ON ledger.refusals (tenant_id, task_id, at);

-- Messages committed with the change they tell of; a row goes when its PubAck has come.
CREATE TABLE ledger.outbox (
  outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream text NOT NULL,
  subject text NOT NULL,
  headers json NOT NULL,
  body text NOT NULL,
  message_id text NOT NULL,
  -- For doorbells: where the stream sequence is stored when the PubAck comes.
  task_seq bigint,
  step_id text,
  attempt int,
  ring int,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Committed events. One leader numbers them gaplessly as it first reads them and publishes in that order.
CREATE TABLE ledger.events (
  event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  position bigint UNIQUE,
  tenant_id text NOT NULL,
  task_id text NOT NULL,
  -- The CloudEvents JSON without its `sequence`.
  envelope json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX events_unnumbered ON ledger.events (event_id) WHERE position IS NULL;
CREATE INDEX events_task ON ledger.events (tenant_id, task_id, position);
CREATE INDEX events_tenant ON ledger.events (tenant_id, position);

CREATE TABLE ledger.dead_letters (
  letter_id text PRIMARY KEY,
  tenant_id text,
  task_id text,
  step_id text,
  attempt int,
  role text,
  workflow text,
  stream text,
  stream_created timestamptz,
  stream_sequence bigint,
  subject text,
  headers json NOT NULL,
  body bytea,
  reason text NOT NULL,
  error json NOT NULL,
  history json NOT NULL,
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'replaying', 'closed', 'discarded')),
  replays int NOT NULL DEFAULT 0,
  first_failed_at timestamptz NOT NULL,
  last_failed_at timestamptz NOT NULL,
  UNIQUE (tenant_id, task_id, step_id, attempt),
  UNIQUE (stream, stream_created, stream_sequence)
);
CREATE INDEX dead_letters_recent ON ledger.dead_letters (last_failed_at DESC, letter_id);

-- Slots announced by heartbeats. No history: a row is gone after three missed beats.
CREATE TABLE ledger.workers (
  worker_id text PRIMARY KEY,
  role text NOT NULL,
  slots int NOT NULL,
  free int NOT NULL,
  seen_at timestamptz NOT NULL
);

-- Answers to control requests, so that the same request id is answered the same again.
CREATE TABLE ledger.requests (
  tenant_id text NOT NULL,
  request_id text NOT NULL,
  reply json NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, request_id)
);

-- What the maintainer must still be told about finished tasks; sent again at due_at until evt.knowledge confirms.
CREATE TABLE ledger.settlements (
  task_seq bigint PRIMARY KEY REFERENCES ledger.tasks ON DELETE CASCADE,
  tenant_id text NOT NULL,
  task_id text NOT NULL,
  body json NOT NULL,
  tries int NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL,
  settled_at timestamptz,
  missing text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX settlements_due ON ledger.settlements (due_at) WHERE settled_at IS NULL;

-- While broker and database answer, schedulers write a tick each second; a gap tells of an outage.
CREATE TABLE ledger.ticks (singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton), at timestamptz NOT NULL);
INSERT INTO ledger.ticks (at) VALUES (now());

-- Conservation: tasks that nothing will ever move. Must be 0 and come back to 0.
CREATE VIEW ledger.unaccounted_tasks AS
SELECT t.tenant_id, t.task_id, t.state
FROM ledger.tasks t
WHERE t.state NOT IN ('completed', 'failed')
  AND (
    NOT EXISTS (SELECT FROM ledger.steps s WHERE s.task_seq = t.task_seq AND s.phase IN ('ready', 'dispatched', 'executing', 'backing_off'))
    OR EXISTS (
      SELECT FROM ledger.steps s
      WHERE s.task_seq = t.task_seq AND s.phase IN ('ready', 'dispatched', 'executing', 'backing_off')
        AND (s.due_at IS NULL OR s.due_at < now() - interval '60 seconds')
    )
  );

-- Ownership and rights: the scheduler writes, the gateway reads its request's tenant and nothing else.
DO $$
DECLARE
  relation text;
BEGIN
  FOR relation IN SELECT format('ledger.%I', c.relname) FROM pg_class c WHERE c.relnamespace = 'ledger'::regnamespace AND c.relkind = 'r' LOOP
    EXECUTE format('ALTER TABLE %s OWNER TO cleanslate_owner', relation);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO cleanslate_scheduler', relation);
  END LOOP;
END $$;
ALTER VIEW ledger.unaccounted_tasks OWNER TO cleanslate_owner;
REVOKE UPDATE, DELETE ON ledger.transitions, ledger.refusals FROM cleanslate_scheduler;
REVOKE INSERT, UPDATE, DELETE ON ledger.allowed_transitions FROM cleanslate_scheduler;
REVOKE INSERT, DELETE ON ledger.meta FROM cleanslate_scheduler;
GRANT SELECT ON ledger.unaccounted_tasks TO cleanslate_scheduler;
GRANT USAGE ON SCHEMA ledger TO cleanslate_scheduler, cleanslate_gateway;
GRANT SELECT ON ledger.meta, ledger.tenants, ledger.tasks, ledger.steps, ledger.events, ledger.dead_letters, ledger.objects TO cleanslate_gateway;

DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['tasks', 'steps', 'events', 'dead_letters', 'objects'] LOOP
    EXECUTE format('ALTER TABLE ledger.%I ENABLE ROW LEVEL SECURITY', relation);
    EXECUTE format('ALTER TABLE ledger.%I FORCE ROW LEVEL SECURITY', relation);
    EXECUTE format('CREATE POLICY scheduler_all ON ledger.%I TO cleanslate_scheduler USING (true) WITH CHECK (true)', relation);
    EXECUTE format('CREATE POLICY owner_all ON ledger.%I TO cleanslate_owner USING (true) WITH CHECK (true)', relation);
    EXECUTE format('CREATE POLICY tenant_reads ON ledger.%I FOR SELECT TO cleanslate_gateway USING (tenant_id = (SELECT cleanslate.reading_tenant()))', relation);
  END LOOP;
END $$;
