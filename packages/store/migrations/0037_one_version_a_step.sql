-- A step that is claimed and reported in one batch (as every `pure` one is) was written twice, since the triggers judge single moves. Its row shows that it was executed: the claim is new
-- with this very move. So the way through `executing` need not be written by itself (docs/decisions/0046). `ledger.allowed_transitions` stays the one list.
DO $$
DECLARE
  moves text;
BEGIN
  SELECT string_agg(quote_literal(from_state || '>' || to_state), ', ' ORDER BY from_state, to_state) INTO STRICT moves FROM ledger.allowed_transitions WHERE kind = 'step';
  DROP TRIGGER steps_transition ON ledger.steps;
  EXECUTE format(
    'CREATE TRIGGER steps_transition BEFORE UPDATE OF state ON ledger.steps FOR EACH ROW
       WHEN (OLD.state <> NEW.state AND OLD.state || ''>'' || NEW.state <> ALL (ARRAY[%1$s])
         AND NOT (OLD.state = ''pending'' AND NEW.state = ''completed'' AND NEW.claim_id IS NOT NULL AND OLD.claim_id IS DISTINCT FROM NEW.claim_id))
       EXECUTE FUNCTION ledger.check_transition(''step'')',
    moves
  );
END $$;
