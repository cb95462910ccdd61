import { LaunderReport } from '@cleanslate/contracts';
import type { Tx } from '../../database.ts';

/** Most reports kept of a tenant. */
const KEPT = 400;

/** Stores a run's report, and deletes the oldest beyond 400. Returns its number. */
export async function insertReport(tx: Tx, tenantId: string, report: Omit<LaunderReport, 'reportId'>): Promise<number> {
  const { startedAt, finishedAt, askedBy, revision, ...body } = report;
  const { rows } = await tx.query<{ id: number }>(
    `INSERT INTO knowledge.launderings (tenant_id, started_at, finished_at, asked_by, revision, body) VALUES ($1, $2, $3, $4, $5, $6) RETURNING report_id AS id`,
    [tenantId, startedAt, finishedAt, askedBy, revision, JSON.stringify(body)],
  );
  await tx.query(
    `DELETE FROM knowledge.launderings WHERE tenant_id = $1 AND report_id <= (
       SELECT report_id FROM knowledge.launderings WHERE tenant_id = $1 ORDER BY report_id DESC OFFSET ${KEPT} LIMIT 1)`,
    [tenantId],
  );
  return rows[0]?.id ?? 0;
}

type ReportRow = {
  report_id: number;
  started_at: Date;
  finished_at: Date;
  asked_by: string;
  revision: number;
  body: object;
};

/** Reports of the transaction's tenant, newest first, or the one with this number. */
export async function listReports(
  tx: Tx,
  tenantId: string,
  query: { readonly reportId?: number | undefined; readonly limit?: number | undefined },
): Promise<LaunderReport[]> {
  const { rows } = await tx.query<ReportRow>(
    `SELECT report_id, started_at, finished_at, asked_by, revision, body FROM knowledge.launderings
     WHERE tenant_id = $1 AND ($2::int8 IS NULL OR report_id = $2) ORDER BY report_id DESC LIMIT $3`,
    [tenantId, query.reportId ?? null, query.limit ?? 20],
  );
  return rows.map((row) =>
    LaunderReport.parse({
      reportId: row.report_id,
      startedAt: row.started_at.toISOString(),
      finishedAt: row.finished_at.toISOString(),
      askedBy: row.asked_by,
      revision: row.revision,
      ...row.body,
    }),
  );
}
