-- What a task costs in index entries (docs/decisions/0052). Completed tasks are most of all, and a listing of them walks the tenant's tasks as they were accepted; the other states are what an index
-- must find. What is kept long enough is found by when it was accepted, too, and events by their position, which is given out in the order of time.
DROP INDEX ledger.tasks_by_state, ledger.tasks_finished;
CREATE INDEX tasks_by_state ON ledger.tasks (tenant_id, state, created_at DESC, task_seq DESC) WHERE state <> 'completed';
DROP INDEX ledger.events_age;
