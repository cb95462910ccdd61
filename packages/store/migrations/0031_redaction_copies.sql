-- Copies of redacted words with other facts: free text of the audit by its whole wording (a short phrase stands in too many of them), and the hashes of what
-- people asked, which without the tenant's secret could be found by trying.
CREATE FUNCTION knowledge.erase_audit_reasons(of_tenant text, reasons text[]) RETURNS int
SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
  erased int;
BEGIN
  UPDATE knowledge.audit SET reason = 'redacted' WHERE tenant_id = of_tenant AND decision <> 'redacted' AND reason = ANY (reasons);
  GET DIAGNOSTICS erased = ROW_COUNT;
  RETURN erased;
END $$;
GRANT CREATE ON SCHEMA knowledge TO cleanslate_eraser;
ALTER FUNCTION knowledge.erase_audit_reasons(text, text[]) OWNER TO cleanslate_eraser;
REVOKE CREATE ON SCHEMA knowledge FROM cleanslate_eraser;
REVOKE EXECUTE ON FUNCTION knowledge.erase_audit_reasons(text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION knowledge.erase_audit_reasons(text, text[]) TO cleanslate_maintainer;
GRANT UPDATE (body_hash) ON knowledge.requests TO cleanslate_maintainer;
