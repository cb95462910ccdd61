-- What people look at when they ask why a task ended as it did, and what lies on the blackboard.

-- Append-only tables are granted to no reader (a hypertable's chunks are tables of their own): these functions hand out one task of the reading tenant.
CREATE FUNCTION ledger.task_transitions(wanted text, at_most int)
RETURNS TABLE (at timestamptz, step_id text, from_state text, to_state text, trigger text, attempt int, spent int, round int, worker text, code text)
STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog AS $$
  SELECT x.at, x.step_id, x.from_state, x.to_state, x.trigger, x.attempt, x.spent, x.round, x.worker, x.code
  FROM ledger.tasks t JOIN ledger.transitions x ON x.task_seq = t.task_seq
  WHERE t.tenant_id = cleanslate.reading_tenant() AND t.task_id = wanted ORDER BY x.transition_id DESC LIMIT at_most
$$;

CREATE FUNCTION ledger.task_refusals(wanted text, at_most int)
RETURNS TABLE (at timestamptz, step_id text, attempt int, code text, detail text)
STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog AS $$
  SELECT r.at, r.step_id, r.attempt, r.code, r.detail FROM ledger.refusals r
  WHERE r.tenant_id = cleanslate.reading_tenant() AND r.task_id = wanted ORDER BY r.at DESC LIMIT at_most
$$;

CREATE FUNCTION ledger.task_repairs(wanted text, at_most int)
RETURNS TABLE (at timestamptz, step_id text, what text, detail text)
STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog AS $$
  SELECT r.at, r.step_id, r.what, r.detail FROM ledger.repairs r
  WHERE r.tenant_id = cleanslate.reading_tenant() AND r.task_id = wanted ORDER BY r.repair_id DESC LIMIT at_most
$$;

-- They run as the owner of the tables, who must be able to ask whose rows they are.
GRANT USAGE ON SCHEMA cleanslate TO cleanslate_owner;
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['task_transitions', 'task_refusals', 'task_repairs'] LOOP
    EXECUTE format('ALTER FUNCTION ledger.%I(text, int) OWNER TO cleanslate_owner', name);
    EXECUTE format('REVOKE EXECUTE ON FUNCTION ledger.%I(text, int) FROM PUBLIC', name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION ledger.%I(text, int) TO cleanslate_gateway', name);
  END LOOP;
END $$;

-- The blackboard, one tenant at a time, newest first.
GRANT SELECT ON knowledge.candidates TO cleanslate_gateway;
CREATE POLICY gateway_reads ON knowledge.candidates FOR SELECT TO cleanslate_gateway USING (tenant_id = (SELECT cleanslate.reading_tenant()));
CREATE INDEX candidates_recent ON knowledge.candidates (tenant_id, candidate_seq DESC);
CREATE INDEX candidates_undecided ON knowledge.candidates (tenant_id, candidate_seq DESC) WHERE state <> 'settled';
