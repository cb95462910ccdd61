import { type Html, html } from './html.ts';

const STEPS = [
  [60_000, 1_000, 's'],
  [7_200_000, 60_000, 'min'],
  [172_800_000, 3_600_000, 'h'],
  [Number.POSITIVE_INFINITY, 86_400_000, 'd'],
] as const;

/** `12 s`, `3 min`, `5 h`, `2 d`. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
  const [, unit, name] = STEPS.find(([below]) => ms < below) ?? STEPS[3];
  return `${Math.round(ms / unit)} ${name}`;
}

/** A moment as its age; its title is the moment itself in UTC, from which a script counts on. */
export function age(iso: string, now = Date.now()): Html {
  const ms = now - Date.parse(iso);
  const text = ms < 0 ? `in ${duration(-ms)}` : `${duration(ms)} ago`;
  return html`<time datetime="${iso}" title="${moment(iso)}" data-age>${text}</time>`;
}

/** `2026-03-02 09:00:04 UTC`. */
export function moment(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** `2026-03-02` if it is a midnight, otherwise with its time. */
export function day(iso: string | null, open: string): string {
  if (iso === null) return open;
  return iso.slice(11, 19) === '00:00:00' ? iso.slice(0, 10) : moment(iso);
}
