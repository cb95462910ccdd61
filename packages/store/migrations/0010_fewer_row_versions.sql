-- What one step costs (bench/RESULTS.md): a step row is written three times, each time into every index that names its phase. One due time instead of four indexes.
ALTER TABLE ledger.steps
  -- The soonest time at which the sweep has something to decide about a step in motion.
  ADD COLUMN look_at timestamptz GENERATED ALWAYS AS (
    CASE
      WHEN phase = 'executing' THEN least(due_at, timeout_at)
      WHEN phase IN ('ready', 'dispatched', 'backing_off') THEN least(due_at, queue_expires_at)
    END
  ) STORED;
DROP INDEX ledger.steps_due, ledger.steps_timeout, ledger.steps_queue, ledger.steps_look;
CREATE INDEX steps_look ON ledger.steps (look_at) WHERE look_at IS NOT NULL;
-- Always empty but for a fault: what the reconciler must find although no due time leads to it.
CREATE INDEX steps_adrift ON ledger.steps (task_seq) WHERE phase IN ('ready', 'dispatched', 'executing', 'backing_off') AND (due_at IS NULL OR due_at = 'infinity');
-- Rows of the present grow and move on: room in their page keeps the next version beside them.
ALTER TABLE ledger.steps SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE ledger.tasks SET (autovacuum_vacuum_scale_factor = 0.05);

-- While a table is small its indexes seem to cost the same, and then the newest is taken: that must be the one by which tasks are found, not one that leads to all tasks of a tenant
-- (a plan made on the first day is kept until the table is analyzed).
ALTER TABLE ledger.tasks DROP CONSTRAINT tasks_tenant_id_task_id_key, ADD CONSTRAINT tasks_tenant_id_task_id_key UNIQUE (tenant_id, task_id);

-- A table of one row is read by its index like all others: it must stay one page.
ALTER TABLE ledger.meta SET (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);
ALTER TABLE ledger.ticks SET (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);
-- Rows that live for less than a second: dead ones are swept before they pile up.
ALTER TABLE ledger.outbox SET (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0);
