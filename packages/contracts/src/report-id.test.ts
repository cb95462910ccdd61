import { expect, it } from 'vitest';
import { parseReportId, toReportId } from './index.ts';

const fence = { epoch: 2, tenantId: 'acme', taskId: 't-1', stepId: 'work#2', attempt: 3, claimId: 'analyzer-1:ab' };

it('a report’s message id names its claim, whichever saying of it this is; each further one is another message', () => {
  const ids = [1, 2, 3].map((saying) => toReportId(fence, saying));
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect(parseReportId(id)).toEqual(fence);
  expect(ids[0]).toBe(toReportId(fence));
  for (const bad of ['', 'report:', 'report~x:1:acme:t:s:1:c', `${ids[0]}`.replace('report', 'reports')])
    expect(parseReportId(bad)).toBeUndefined();
});
