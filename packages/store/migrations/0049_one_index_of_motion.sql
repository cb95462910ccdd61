-- What moves a step (docs/decisions/0048): each dispatch left an entry behind in two indexes, one of all steps in flight under the same few keys, which the server kept sorting out, and one of due times.
-- One index tells both: by phase, and in it by due time. Its second condition is the one that counting names; where it holds, the first does.
DROP INDEX ledger.steps_in_flight, ledger.steps_look;
CREATE INDEX steps_motion ON ledger.steps (phase, look_at) WHERE look_at IS NOT NULL OR phase IN ('dispatched', 'executing');

-- A trigger before the change locks each row once more, and writes that down; the same condition is judged behind it.
DO $$
DECLARE
  relation text;
  definition text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['tasks', 'steps'] LOOP
    SELECT pg_get_triggerdef(oid) INTO STRICT definition FROM pg_trigger WHERE tgrelid = format('ledger.%I', relation)::regclass AND tgname = relation || '_transition';
    EXECUTE format('DROP TRIGGER %1$s_transition ON ledger.%1$s', relation);
    EXECUTE replace(definition, 'BEFORE UPDATE', 'AFTER UPDATE');
  END LOOP;
END $$;
