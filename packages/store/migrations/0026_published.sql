-- How far events are published, in a row of its own: every batch gives out positions in `ledger.meta`, and waited there for a relay that froze with its mark unfinished.
CREATE TABLE ledger.published (singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton), position bigint NOT NULL) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);
INSERT INTO ledger.published (position) SELECT published_position FROM ledger.meta;
COMMENT ON COLUMN ledger.meta.published_position IS 'Only for schedulers of the release before, while they are replaced; since then ledger.published';
ALTER TABLE ledger.published OWNER TO cleanslate_owner;
GRANT SELECT, UPDATE ON ledger.published TO cleanslate_scheduler;

-- While two schedulers commit at once some events are numbered afterwards, and each leaves a dead entry in `events_unnumbered`, which every batch reads. The default waits for a fifth of all events.
ALTER TABLE ledger.events SET (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.005);
