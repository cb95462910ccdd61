-- The reconciler: what it repaired, who asked for it, and the candidates that nothing will ever decide.

-- Append-only: each repair is a fault somewhere, and must be found again.
CREATE TABLE ledger.repairs (
  repair_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  tenant_id text NOT NULL,
  task_id text NOT NULL,
  step_id text,
  what text NOT NULL CHECK (what IN ('due_time', 'readied', 'settled_again', 'decided')),
  detail text NOT NULL
);
CREATE INDEX repairs_task ON ledger.repairs (tenant_id, task_id, at);

-- `slate doctor --repair` asks here, because only a scheduler writes the ledger; the answer comes with `done_at`.
CREATE TABLE ledger.repair_requests (
  request_id text PRIMARY KEY,
  requested_at timestamptz NOT NULL DEFAULT now(),
  done_at timestamptz,
  repaired int
);

-- Candidates count too: a settlement nobody says again, and candidates of a finished task that wait although it counts as settled (or was never to be).
CREATE VIEW ledger.unaccounted_candidates AS
SELECT s.tenant_id, s.task_id, 'settlement overdue' AS what
FROM ledger.settlements s WHERE s.settled_at IS NULL AND s.due_at < now() - interval '60 seconds'
UNION
SELECT t.tenant_id, t.task_id, 'candidates wait'
FROM knowledge.candidates c
JOIN ledger.tasks t ON t.tenant_id = c.tenant_id COLLATE "default" AND t.task_id = c.task_id COLLATE "default"
LEFT JOIN ledger.settlements s ON s.task_seq = t.task_seq
WHERE c.state = 'waiting' AND c.received_at < now() - interval '60 seconds'
  AND t.state IN ('completed', 'failed') AND t.updated_at < now() - interval '60 seconds'
  AND (s.task_seq IS NULL OR s.settled_at < now() - interval '60 seconds');
-- Found by the partial index of what is not settled.

ALTER TABLE ledger.repairs OWNER TO cleanslate_owner;
ALTER TABLE ledger.repair_requests OWNER TO cleanslate_owner;
ALTER VIEW ledger.unaccounted_candidates OWNER TO cleanslate_owner;
GRANT SELECT, INSERT ON ledger.repairs TO cleanslate_scheduler;
GRANT SELECT, UPDATE, DELETE ON ledger.repair_requests TO cleanslate_scheduler;
GRANT SELECT ON ledger.unaccounted_candidates TO cleanslate_scheduler;
-- The view reads with its owner's rights, and row-level security is forced on owners.
CREATE POLICY owner_counts ON knowledge.candidates FOR SELECT TO cleanslate_owner USING (true);
