-- Finished tasks stay retain_days (null: the platform's default), then go with their steps, events and objects. Transitions and refusals are the audit: append-only,
-- dropped by chunk by an administrator.
ALTER TABLE ledger.tenants ADD COLUMN retain_days int CHECK (retain_days > 0);
CREATE INDEX tasks_finished ON ledger.tasks (updated_at) WHERE state IN ('completed', 'failed');
CREATE INDEX events_age ON ledger.events (created_at);
CREATE INDEX requests_age ON ledger.requests (at);
CREATE INDEX objects_age ON ledger.objects (tenant_id, created_at);
