import { type Principal, permissionsFor } from '../permissions.ts';
import { BUILT_IN_ROLES, consumersFor } from '../streams.ts';
import { subjectsOverlap, toFilter } from '../subject-overlap.ts';

const role = BUILT_IN_ROLES[0];
/** One of each kind that talks on the bus; `admin` only creates streams. */
const PRINCIPALS: readonly Principal[] = [
  { kind: 'tenant', tenantId: 'tenant' },
  { kind: 'gateway' },
  { kind: 'scheduler' },
  { kind: 'worker', role },
  { kind: 'knowledge-maintainer' },
];

/**
 * Who may publish on a subject of the catalogue, and who receives from it: by subscription or by a durable consumer.
 */
export function partiesOf(catalogueSubject: string): { senders: Principal['kind'][]; receivers: Principal['kind'][] } {
  const filter = toFilter(catalogueSubject);
  const reaches = (subjects: readonly string[]) => subjects.some((subject) => subjectsOverlap(subject, filter));
  return {
    senders: PRINCIPALS.filter((each) => reaches(permissionsFor(each, [role]).publish)).map(({ kind }) => kind),
    receivers: PRINCIPALS.filter(
      (each) => reaches(permissionsFor(each, [role]).subscribe) || reaches(durableFilters(each)),
    ).map(({ kind }) => kind),
  };
}

function durableFilters(principal: Principal): string[] {
  const owner = principal.kind === 'worker' ? `worker:${principal.role}` : principal.kind;
  return consumersFor([role])
    .filter((consumer) => consumer.owner === owner)
    .map((consumer) => consumer.filter);
}
