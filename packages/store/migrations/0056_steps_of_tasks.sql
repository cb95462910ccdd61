-- Each step that was added looked its task up and locked it, one by one (docs/decisions/0052). A statement that adds steps is checked once; tasks take their steps along as before. Who adds steps to a task
-- that is there holds its lock, so it can't go meanwhile.
ALTER TABLE ledger.steps DROP CONSTRAINT steps_task_seq_fkey;

CREATE FUNCTION ledger.check_added_steps() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM added a WHERE NOT EXISTS (SELECT FROM ledger.tasks t WHERE t.task_seq = ANY (ARRAY[a.task_seq]))) THEN
    RAISE EXCEPTION 'a step belongs to no task' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
ALTER FUNCTION ledger.check_added_steps() OWNER TO cleanslate_owner;
CREATE TRIGGER steps_added AFTER INSERT ON ledger.steps REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger.check_added_steps();

CREATE FUNCTION ledger.delete_steps() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM ledger.steps s USING gone g WHERE s.task_seq = ANY (ARRAY[g.task_seq]);
  RETURN NULL;
END $$;
ALTER FUNCTION ledger.delete_steps() OWNER TO cleanslate_owner;
CREATE TRIGGER tasks_gone AFTER DELETE ON ledger.tasks REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION ledger.delete_steps();
