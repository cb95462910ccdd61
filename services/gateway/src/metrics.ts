import type { AppError } from '@cleanslate/contracts';
import type { Metrics } from '@cleanslate/runtime';
import { RecentQuestions } from './recent-questions.ts';

export function gatewayMetrics(metrics: Metrics) {
  const requests = metrics.histogram(
    'slate_http_request_seconds',
    'HTTP requests by route and status; event streams count when they end',
    [0.005, 0.02, 0.1, 0.5, 2, 10],
    ['route', 'status'],
  );
  const failures = metrics.counter('slate_query_errors_total', 'Queries answered with an error', ['subject', 'code']);
  const searches = metrics.counter(
    'slate_fact_searches_total',
    'Searches; `repeated` is yes if the tenant asked the same within a day',
    ['repeated'],
  );
  const questions = new RecentQuestions();
  return {
    searched: (tenantId: string, query: string) =>
      searches.inc({ repeated: questions.note(tenantId, query) ? 'yes' : 'no' }),
    answered: (route: string, status: number, seconds: number) =>
      requests.observe({ route, status: String(status) }, seconds),
    // The tenant is left out: a label per tenant is unbounded.
    queryFailed: (error: AppError, subject: string) =>
      failures.inc({ subject: subject.replace(/^qry\.[^.]+\./, 'qry.*.'), code: error.code }),
  };
}
