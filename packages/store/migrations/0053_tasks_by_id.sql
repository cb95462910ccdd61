-- A task is looked up by its id, or by its key, for every submit. Behind the tenant both looked like any other index that begins with the tenant: as long as a table seems to be empty they cost the same,
-- and a plan made then, which is kept until the table is analyzed, read all tasks of the tenant for each submit (docs/decisions/0048). In front of it, nothing else fits.
ALTER TABLE ledger.tasks ADD CONSTRAINT tasks_task_id_tenant_id_key UNIQUE (task_id, tenant_id);
ALTER TABLE ledger.tasks DROP CONSTRAINT tasks_tenant_id_task_id_key;
-- Most tasks have no key: they need no entry, anew with every change of state.
CREATE UNIQUE INDEX tasks_idempotency_key ON ledger.tasks (idempotency_key, tenant_id) WHERE idempotency_key IS NOT NULL;
ALTER TABLE ledger.tasks DROP CONSTRAINT tasks_tenant_id_idempotency_key_key;
