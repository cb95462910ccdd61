import { ENDPOINTS, endpointSubject } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { QUERIES } from './queries.ts';

test('every endpoint that the catalogue gives to the gateway is served, once', () => {
  const subjects = (
    endpoints: readonly { plane: 'qry' | 'ctl' | 'obj'; noun: (typeof ENDPOINTS)[number]['noun']; verb: string }[],
  ) => endpoints.map((endpoint) => endpointSubject(endpoint, 't')).sort();
  const served = QUERIES.map((query) => query.endpoint);
  expect(subjects(served)).toEqual(subjects(ENDPOINTS.filter((endpoint) => endpoint.servedBy === 'gateway')));
});
