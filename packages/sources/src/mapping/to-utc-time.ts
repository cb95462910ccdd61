const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** ISO 8601, or as PostgreSQL prints it (`2024-08-01 08:00:00.5+02`). */
const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|[+-]\d{2}(?::?\d{2})?)?$/;

/**
 * UTC with milliseconds; a date is midnight UTC, a time without a zone is UTC. Undefined for anything else, including a
 * day that no calendar has.
 */
export function toUtcTime(text: string): string | undefined {
  if (text === 'infinity' || text === '-infinity') return undefined;
  const iso = DATE.test(text) ? `${text}T00:00:00Z` : toIso(text);
  if (iso === undefined) return undefined;
  const ms = Date.parse(iso);
  // 30 February would become 1 March.
  if (Number.isNaN(ms) || !isDay(iso.slice(0, 10))) return undefined;
  return new Date(ms).toISOString();
}

function toIso(text: string): string | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [, date = '', time = '', zone = 'Z'] = match;
  const [hours, minutes] = [zone.slice(0, 3), zone.slice(3).replace(':', '') || '00'];
  return `${date}T${time}${zone === 'Z' ? 'Z' : `${hours}:${minutes}`}`;
}

function isDay(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === date;
}
