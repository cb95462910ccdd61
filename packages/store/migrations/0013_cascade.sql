-- What rests on facts that changed, and how people settle questions.

-- Up to which moment versions that began or ended by themselves were looked at.
CREATE TABLE knowledge.sweeps (
  name text PRIMARY KEY,
  swept_until timestamptz(3) NOT NULL
);
INSERT INTO knowledge.sweeps VALUES ('periods', now());
ALTER TABLE knowledge.sweeps OWNER TO cleanslate_owner;
ALTER TABLE knowledge.sweeps ENABLE ROW LEVEL SECURITY;
ALTER TABLE knowledge.sweeps FORCE ROW LEVEL SECURITY;
CREATE POLICY maintainer_writes ON knowledge.sweeps TO cleanslate_maintainer USING (true) WITH CHECK (true);
GRANT SELECT, UPDATE ON knowledge.sweeps TO cleanslate_maintainer;

-- Believed versions by when they begin and end (9007199254740991 is "still believed").
CREATE INDEX fact_versions_begin ON knowledge.fact_versions (valid_from) WHERE revision_until = 9007199254740991 AND valid_from > '-infinity';
CREATE INDEX fact_versions_end ON knowledge.fact_versions (valid_until) WHERE revision_until = 9007199254740991 AND valid_until < 'infinity';

-- One open mark for each cause, found by either end.
CREATE UNIQUE INDEX marks_one_open ON knowledge.marks
  (tenant_id, downstream_kind, downstream_id, downstream_version, cause_id, cause_version) WHERE upper_inf(revisions);
CREATE INDEX marks_open ON knowledge.marks (tenant_id, cause_id, cause_version) WHERE upper_inf(revisions);
DROP INDEX knowledge.marks_cause;

-- Who settled a dispute, why, and when: also the reason why the same challenger isn't asked about again.
ALTER TABLE knowledge.disputes ADD COLUMN opened_at timestamptz(3) NOT NULL DEFAULT now(), ADD COLUMN resolved_at timestamptz(3), ADD COLUMN resolution_reason text;
GRANT UPDATE (resolved_at, resolution_reason) ON knowledge.disputes TO cleanslate_maintainer;
CREATE INDEX disputes_settled ON knowledge.disputes (tenant_id, knowledge_id, challenger_signature) WHERE resolution IS NOT NULL;
