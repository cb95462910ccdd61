-- Listings of one tenant by state, workflow or letter status, in the listings' order: a page costs its rows, whatever else the tenant has.
-- A state change writes all of a task's index entries already (tasks_deadline depends on the state), so these add one each.
CREATE INDEX tasks_by_state ON ledger.tasks (tenant_id, state, created_at DESC, task_seq DESC);
CREATE INDEX tasks_by_workflow ON ledger.tasks (tenant_id, workflow, created_at DESC, task_seq DESC);
-- All statuses rather than only the open ones: the status is a parameter, and a plan made once for any value can't use a partial index.
CREATE INDEX dead_letters_by_status ON ledger.dead_letters (tenant_id, status, last_failed_at DESC, letter_id DESC);
