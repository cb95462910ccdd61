import type { Publisher } from '@cleanslate/bus';
import { encodeMessage, HEADERS, KnowledgeSettle, subjects } from '@cleanslate/contracts';
import { type Database, takeDueSettlements, withTransaction } from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import { SOURCE } from '../source.ts';

const LIMIT = 200;
const GIVE_UP_MS = 5_000;

/** Tells the maintainer what became of finished tasks' candidates; the row's due time repeats it until it confirms. */
export async function relaySettlements(database: Database, publisher: Publisher, epoch: number): Promise<boolean> {
  const due = await withTransaction(database, LEDGER_SCOPE, (tx) => takeDueSettlements(tx, LIMIT));
  await Promise.all(
    due.map(({ tenantId, taskId, body, tries, traceparent }) => {
      const messageId = `${epoch}.settle.${tenantId}.${taskId}.${tries}.${Date.now()}`;
      const attributes = {
        id: messageId,
        source: SOURCE,
        time: new Date().toISOString(),
        tenantid: tenantId,
        taskid: taskId,
        epoch,
      };
      const publication = {
        stream: 'COMMANDS',
        subject: subjects.settle(tenantId),
        messageId,
        headers: { [HEADERS.repeats]: `settle.${taskId}`, ...(traceparent !== null && { traceparent }) },
        body: encodeMessage(KnowledgeSettle, attributes, body as KnowledgeSettle),
      };
      return publisher.publish(publication, { giveUpAfterMs: GIVE_UP_MS });
    }),
  );
  return due.length >= LIMIT;
}
