import { type Bus, type Served, serveEndpoint } from '@cleanslate/bus';
import {
  type Endpoint,
  FactAdd,
  FactImportSet,
  FactRedact,
  FactResolve,
  FactRetract,
  FactRetractSource,
  FactReview,
  FactUnarchive,
  KnowledgeLaunder,
  type RequestOf,
  TaskFeedback,
  type ValueOf,
} from '@cleanslate/contracts';
import type { Logger } from '@cleanslate/runtime';
import type { Database, KnowledgeOutboxRow } from '@cleanslate/store';
import { addFact } from './handlers/add-fact.ts';
import type { Answered, Call } from './handlers/answer-once.ts';
import { closeReview } from './handlers/close-review.ts';
import { SOURCE } from './handlers/events.ts';
import { giveFeedback } from './handlers/give-feedback.ts';
import { importFacts } from './handlers/import-facts.ts';
import { redactFact } from './handlers/redact-fact.ts';
import { resolveDispute } from './handlers/resolve-dispute.ts';
import { retractFact } from './handlers/retract-fact.ts';
import { retractSource } from './handlers/retract-source.ts';
import { unarchiveFact } from './handlers/unarchive-fact.ts';
import { toOutcomes } from './laundering/launder.ts';
import { launderOnRequest } from './laundering/launder-on-request.ts';
import type { LaunderingMetrics } from './laundering/laundering-metrics.ts';

export type RequestParts = {
  readonly bus: Bus;
  readonly database: Database;
  readonly logger: Logger;
  readonly laundering: LaunderingMetrics;
  /** Committed: its events go out, and new versions need their vectors. */
  readonly onWritten: (outbox: readonly KnowledgeOutboxRow[], outcomes: readonly string[]) => void;
};

/** What people state about facts, by request; answered after the commit, the same answer for the same request. */
export function serveRequests(parts: RequestParts): Served {
  const served = [
    serveOne(parts, FactImportSet, importFacts, ({ outcomes }) => outcomes.map(({ outcome }) => outcome)),
    serveOne(parts, FactAdd, addFact, ({ outcome }) => [outcome]),
    serveOne(parts, FactRetract, retractFact, ({ closed }) => closed.map(() => 'retracted')),
    serveOne(parts, FactResolve, resolveDispute, () => ['resolved']),
    serveOne(parts, FactUnarchive, unarchiveFact, ({ versions }) => versions.map(() => 'accepted')),
    serveOne(
      parts,
      KnowledgeLaunder,
      (database, call) => launderOnRequest(database, call, parts.laundering),
      ({ reportId, actions }) => (reportId === null ? [] : toOutcomes(actions)),
    ),
    serveOne(parts, FactRedact, redactFact, ({ versions }) => versions.map(() => 'redacted')),
    serveOne(parts, FactRetractSource, retractSource, ({ closed }) => closed.map(() => 'retracted')),
    serveOne(parts, TaskFeedback, giveFeedback, () => ['feedback']),
    serveOne(parts, FactReview, closeReview, () => ['reviewed']),
  ];
  return {
    stop: async () => {
      await Promise.all(served.map((each) => each.stop()));
    },
  };
}

function serveOne<E extends Endpoint>(
  { bus, database, logger, onWritten }: RequestParts,
  endpoint: E,
  carryOut: (database: Database, call: Call<RequestOf<E>>) => Promise<Answered<ValueOf<E>>>,
  toOutcomes: (reply: ValueOf<E>) => readonly string[],
): Served {
  return serveEndpoint(
    bus,
    endpoint,
    SOURCE,
    async ({ tenantId, data, envelope }) => {
      const { reply, outbox } = await carryOut(database, { tenantId, requestId: envelope.id, data });
      onWritten(outbox, toOutcomes(reply));
      return reply;
    },
    // Writers take turns anyway; more at once would only hold connections.
    { concurrency: 2, onError: (error, subject) => logger.info({ code: error.code, subject }, 'refused') },
  );
}
