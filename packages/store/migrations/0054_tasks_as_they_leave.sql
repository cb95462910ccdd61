-- A task was inserted as pending before its batch was decided, and written once more where its first step was dispatched in the same batch, as it is while there is room: a second version in all of
-- its indexes (docs/decisions/0052). It is inserted with all else that the batch writes now, as the batch leaves it. Both moves stand in `ledger.transitions` as before, and
-- `ledger.allowed_transitions` stays the one list: `pending` to `executing` is in it.
DROP TRIGGER tasks_insert ON ledger.tasks;
CREATE TRIGGER tasks_insert BEFORE INSERT ON ledger.tasks FOR EACH ROW WHEN (NEW.state <> 'pending' AND NEW.state <> 'executing') EXECUTE FUNCTION ledger.check_transition('task');

-- The batch's other rows name the task's key, so it is taken first.
GRANT USAGE ON SEQUENCE ledger.tasks_task_seq_seq TO cleanslate_scheduler;

CREATE FUNCTION ledger.lose_race() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a task was committed by another scheduler at the same moment' USING ERRCODE = 'serialization_failure';
END $$;
ALTER FUNCTION ledger.lose_race() OWNER TO cleanslate_owner;
