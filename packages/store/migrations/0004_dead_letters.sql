-- Dead letters: lineage, bulk replays, edits, how a replay ended, and how long an ended letter is kept.
ALTER TABLE ledger.dead_letters
  -- The first letter of the story, and the one whose replay this failure was.
  ADD COLUMN lineage text,
  ADD COLUMN replay_of text,
  -- For messages: the durable that could not read it; only that one is replayed to.
  ADD COLUMN consumer text,
  -- Bulk replays of the whole lineage; at three it is parked until a person looks.
  ADD COLUMN bulk_replays int NOT NULL DEFAULT 0,
  ADD COLUMN needs_human boolean NOT NULL DEFAULT false,
  -- The bulk replay that took it last.
  ADD COLUMN batch text,
  ADD COLUMN outcome text CHECK (outcome IN ('succeeded', 'failed_again')),
  -- What the last replay was given instead of the original bytes, which stay in `body`.
  ADD COLUMN edited bytea,
  -- Of a message put back into its stream: where it lies there.
  ADD COLUMN replay_sequence bigint,
  ADD COLUMN settled_at timestamptz;
UPDATE ledger.dead_letters SET lineage = letter_id, settled_at = CASE WHEN status IN ('closed', 'discarded') THEN now() END;
ALTER TABLE ledger.dead_letters ALTER COLUMN lineage SET NOT NULL;
-- Written by hand (tests, repairs) a letter begins its own story.
CREATE FUNCTION ledger.begin_lineage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.lineage := coalesce(NEW.lineage, NEW.letter_id);
  RETURN NEW;
END $$;
CREATE TRIGGER dead_letters_lineage BEFORE INSERT ON ledger.dead_letters FOR EACH ROW EXECUTE FUNCTION ledger.begin_lineage();

CREATE INDEX dead_letters_tenant ON ledger.dead_letters (tenant_id, last_failed_at DESC, letter_id DESC);
-- The gauges count them every few seconds.
CREATE INDEX dead_letters_open ON ledger.dead_letters (needs_human) WHERE status = 'open';
CREATE INDEX dead_letters_batch ON ledger.dead_letters (batch) WHERE batch IS NOT NULL;
CREATE INDEX dead_letters_under_way ON ledger.dead_letters (stream, last_failed_at) WHERE status = 'replaying' AND task_id IS NULL;
CREATE INDEX dead_letters_ended ON ledger.dead_letters (settled_at) WHERE status IN ('closed', 'discarded');

-- An operator's input for a step in the place of what the plan maps.
ALTER TABLE ledger.steps ADD COLUMN input_edit json;
