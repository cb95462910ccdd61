-- Joins and conditions are plan data and need no column. Here: what gates, compensation, budgets and forks must remember.
ALTER TABLE ledger.tasks
  -- While completed steps are compensated: { on, error } that the task fails with once that has ended.
  ADD COLUMN failing json,
  -- What a person is, or was, asked about; bound to the SHA-256 of the exact result.
  ADD COLUMN gate json,
  -- Set while the gate is open.
  ADD COLUMN gate_expires_at timestamptz,
  -- The task that this one is a fork of.
  ADD COLUMN forked_from text;
CREATE INDEX tasks_gate ON ledger.tasks (gate_expires_at) WHERE gate_expires_at IS NOT NULL;

ALTER TABLE ledger.steps
  ADD COLUMN purpose text NOT NULL DEFAULT 'work' CHECK (purpose IN ('work', 'evidence', 'compensation')),
  -- Model tokens of all attempts: rounds share a budget.
  ADD COLUMN tokens bigint NOT NULL DEFAULT 0,
  -- In a fork: the old task's step whose result this is.
  ADD COLUMN copied_from text;

-- A fork's copied steps begin where they ended in the old task; every other step begins as pending.
CREATE FUNCTION ledger.check_step_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state <> 'pending' AND NOT (NEW.state = 'completed' AND NEW.copied_from IS NOT NULL) THEN
    RAISE EXCEPTION 'step must start as pending, not %', NEW.state USING ERRCODE = 'CS001';
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER steps_insert ON ledger.steps;
CREATE TRIGGER steps_insert BEFORE INSERT ON ledger.steps FOR EACH ROW EXECUTE FUNCTION ledger.check_step_insert();

-- Conservation: an open gate moves its task when it expires at the latest.
CREATE OR REPLACE VIEW ledger.unaccounted_tasks AS
SELECT t.tenant_id, t.task_id, t.state
FROM ledger.tasks t
WHERE t.state NOT IN ('completed', 'failed')
  AND (
    t.gate_expires_at < now() - interval '60 seconds'
    OR (
      t.gate_expires_at IS NULL
      AND NOT EXISTS (SELECT FROM ledger.steps s WHERE s.task_seq = t.task_seq AND s.phase IN ('ready', 'dispatched', 'executing', 'backing_off'))
    )
    OR EXISTS (
      SELECT FROM ledger.steps s
      WHERE s.task_seq = t.task_seq AND s.phase IN ('ready', 'dispatched', 'executing', 'backing_off')
        AND (s.due_at IS NULL OR s.due_at < now() - interval '60 seconds')
    )
  );
