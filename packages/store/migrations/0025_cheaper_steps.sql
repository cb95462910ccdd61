-- What one task costs (docs/decisions/0038): its eleven moves asked a function each, which looked into the table of transitions. The table stands in the triggers' own conditions
-- now, which the server evaluates without calling anything; the function is called for what is refused. `ledger.allowed_transitions` stays the one list: the conditions are made of it.
CREATE OR REPLACE FUNCTION ledger.check_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    RAISE EXCEPTION '% must start as pending, not %', TG_ARGV[0], NEW.state USING ERRCODE = 'CS001';
  END IF;
  RAISE EXCEPTION '% may not go from % to %', TG_ARGV[0], OLD.state, NEW.state USING ERRCODE = 'CS001';
END $$;
DO $$
DECLARE
  relation text;
  moves text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['task', 'step'] LOOP
    SELECT string_agg(quote_literal(from_state || '>' || to_state), ', ' ORDER BY from_state, to_state) INTO STRICT moves FROM ledger.allowed_transitions WHERE kind = relation;
    EXECUTE format('DROP TRIGGER %1$ss_transition ON ledger.%1$ss', relation);
    EXECUTE format(
      'CREATE TRIGGER %1$ss_transition BEFORE UPDATE OF state ON ledger.%1$ss FOR EACH ROW
         WHEN (OLD.state <> NEW.state AND OLD.state || ''>'' || NEW.state <> ALL (ARRAY[%2$s])) EXECUTE FUNCTION ledger.check_transition(%1$L)',
      relation, moves
    );
  END LOOP;
END $$;
DROP TRIGGER tasks_insert ON ledger.tasks;
CREATE TRIGGER tasks_insert BEFORE INSERT ON ledger.tasks FOR EACH ROW WHEN (NEW.state <> 'pending') EXECUTE FUNCTION ledger.check_transition('task');
-- A fork's copied steps begin where they ended in the old task; every other step begins as pending.
DROP TRIGGER steps_insert ON ledger.steps;
CREATE TRIGGER steps_insert BEFORE INSERT ON ledger.steps FOR EACH ROW
  WHEN (NEW.state <> 'pending' AND NOT (NEW.state = 'completed' AND NEW.copied_from IS NOT NULL)) EXECUTE FUNCTION ledger.check_transition('step');
DROP FUNCTION ledger.check_step_insert();
