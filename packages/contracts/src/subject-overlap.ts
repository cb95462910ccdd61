/** Whether two subjects, each with or without wildcards, can name the same subject. */
export function subjectsOverlap(left: string, right: string): boolean {
  return overlap(left.split('.'), right.split('.'));
}

function overlap([a, ...restA]: readonly string[], [b, ...restB]: readonly string[]): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a === '>' || b === '>') return true;
  return (a === b || a === '*' || b === '*') && overlap(restA, restB);
}

/** A subject of the catalogue as a filter: each `{id}` becomes `*`. */
export function toFilter(subject: string): string {
  return subject.replaceAll(/\{[a-z]+\}/g, '*');
}
