-- The hash by which a task's submit is known again says what was submitted to whoever tries short texts. Where something of a task was erased, it is keyed with a
-- secret of the tenant, which only the scheduler reads. `keyed`: that is done; also made up for in redactions of older releases.
CREATE TABLE ledger.submit_keys (
  tenant_id text COLLATE "C" PRIMARY KEY,
  key bytea NOT NULL
);
ALTER TABLE ledger.submit_keys OWNER TO cleanslate_owner;
ALTER TABLE ledger.submit_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger.submit_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY scheduler_all ON ledger.submit_keys TO cleanslate_scheduler USING (true) WITH CHECK (true);
CREATE POLICY owner_all ON ledger.submit_keys TO cleanslate_owner USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON ledger.submit_keys TO cleanslate_scheduler;
ALTER TABLE ledger.erasures ADD COLUMN keyed boolean NOT NULL DEFAULT false;
CREATE INDEX erasures_unkeyed ON ledger.erasures (redaction_id) WHERE NOT keyed;
