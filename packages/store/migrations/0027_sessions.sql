-- Short-lived memory of users' agents: what was said in one conversation of one tenant.
CREATE TABLE ledger.sessions (
  tenant_id text COLLATE "C" NOT NULL REFERENCES ledger.tenants ON DELETE CASCADE,
  session_id text COLLATE "C" NOT NULL,
  last_n bigint NOT NULL DEFAULT 0,
  -- Items that fell out of the bounds since the last reset.
  forgotten bigint NOT NULL DEFAULT 0,
  extracted_through bigint NOT NULL DEFAULT 0,
  -- What tasks say that were accepted before belongs to an earlier conversation; but for the task that asked for the reset.
  reset_at timestamptz NOT NULL DEFAULT '-infinity',
  reset_by text,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, session_id)
);
CREATE INDEX sessions_expiry ON ledger.sessions (expires_at);

CREATE TABLE ledger.session_items (
  tenant_id text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  n bigint NOT NULL,
  -- Task, step and place: what a later attempt or round says anew takes the place of what it said before.
  item_key text COLLATE "C" NOT NULL,
  said_by text NOT NULL CHECK (said_by IN ('user', 'agent', 'tool')),
  text text NOT NULL,
  task_id text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, session_id, n),
  UNIQUE (tenant_id, session_id, item_key),
  FOREIGN KEY (tenant_id, session_id) REFERENCES ledger.sessions ON DELETE CASCADE
);

-- Also the scheduler, who sees all of the ledger, sees the sessions of one tenant at a time: a statement that forgets to name it finds nothing.
DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['sessions', 'session_items'] LOOP
    EXECUTE format('ALTER TABLE ledger.%I OWNER TO cleanslate_owner', relation);
    EXECUTE format('ALTER TABLE ledger.%I ENABLE ROW LEVEL SECURITY', relation);
    EXECUTE format('ALTER TABLE ledger.%I FORCE ROW LEVEL SECURITY', relation);
    EXECUTE format('CREATE POLICY owner_all ON ledger.%I TO cleanslate_owner USING (true) WITH CHECK (true)', relation);
    EXECUTE format('CREATE POLICY one_tenant ON ledger.%I TO cleanslate_scheduler USING (tenant_id = (SELECT cleanslate.reading_tenant())) WITH CHECK (tenant_id = (SELECT cleanslate.reading_tenant()))', relation);
    EXECUTE format('CREATE POLICY tenant_reads ON ledger.%I FOR SELECT TO cleanslate_gateway USING (tenant_id = (SELECT cleanslate.reading_tenant()))', relation);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ledger.%I TO cleanslate_scheduler', relation);
    EXECUTE format('GRANT SELECT ON ledger.%I TO cleanslate_gateway', relation);
  END LOOP;
END $$;

-- All that crosses tenants: what has expired goes. The row stays a week longer, so that a task from before brings nothing back.
CREATE FUNCTION ledger.forget_sessions(at_most int) RETURNS int
SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  gone int;
  emptied int;
BEGIN
  DELETE FROM ledger.sessions s WHERE (s.tenant_id, s.session_id) IN (
    SELECT x.tenant_id, x.session_id FROM ledger.sessions x WHERE x.expires_at < now() - interval '7 days' ORDER BY x.expires_at LIMIT at_most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS gone = ROW_COUNT;
  DELETE FROM ledger.session_items i USING (
    SELECT x.tenant_id, x.session_id FROM ledger.sessions x WHERE x.expires_at < now()
      AND EXISTS (SELECT FROM ledger.session_items y WHERE y.tenant_id = x.tenant_id AND y.session_id = x.session_id)
    ORDER BY x.expires_at LIMIT at_most FOR UPDATE SKIP LOCKED) old
  WHERE i.tenant_id = old.tenant_id AND i.session_id = old.session_id;
  GET DIAGNOSTICS emptied = ROW_COUNT;
  RETURN greatest(gone, least(emptied, at_most));
END $$;
ALTER FUNCTION ledger.forget_sessions(int) OWNER TO cleanslate_owner;
REVOKE EXECUTE ON FUNCTION ledger.forget_sessions(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.forget_sessions(int) TO cleanslate_scheduler;
