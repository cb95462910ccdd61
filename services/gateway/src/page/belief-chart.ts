import type { FactView, Pin } from '@cleanslate/contracts';
import { type Html, html } from './html.ts';
import { day } from './time.ts';

const WIDTH = 760;
const ROW = 44;
const LEFT = 76;
const BOTTOM = 30;

/** Versions between these two moments; half a year of room at either end. */
export function yearsOf(
  versions: readonly Pick<FactView, 'validFrom' | 'validUntil'>[],
  now: number,
): { from: number; until: number } {
  const half = 183 * 86_400_000;
  const bounds = versions
    .flatMap(({ validFrom, validUntil }) => [validFrom, validUntil])
    .flatMap((at) => (at === null ? [] : Date.parse(at)));
  return { from: Math.min(now, ...bounds) - half, until: Math.max(now, ...bounds) + half };
}

/**
 * Both time axes at once: to the right the time in which a version is in force, upwards the revisions in which it was
 * believed. The pin is the cross; the box that contains it is what a task with that pin sees. The table below says the
 * same.
 */
export function beliefChart(versions: readonly FactView[], pin: Pin, now = Date.now()): Html {
  const { from, until } = yearsOf(versions, now);
  // Only revisions at which something changed get a row: all facts share the counter.
  const steps = [...new Set(versions.flatMap((each) => [each.revisionFrom, each.revisionUntil ?? []].flat()))].sort(
    (a, b) => a - b,
  );
  const height = steps.length * ROW + BOTTOM;
  const x = (ms: number) =>
    Math.round(LEFT + ((Math.min(Math.max(ms, from), until) - from) / (until - from)) * (WIDTH - LEFT - 8));
  const y = (revision: number | null) => (revision === null ? 0 : (steps.length - steps.indexOf(revision)) * ROW);
  const at = steps.filter((each) => each <= pin.revision).length;
  const pinY = at === 0 ? steps.length * ROW + 6 : (steps.length - at + 0.78) * ROW;
  const pinX = x(Date.parse(pin.validAt));
  const years = ticks(from, until).map(
    (ms) =>
      html`<text class="axis" x="${x(ms)}" y="${height - 8}">${new Date(ms).getUTCFullYear()}</text><line class="grid" x1="${x(ms)}" x2="${x(ms)}" y1="0" y2="${height - BOTTOM + 4}"></line>`,
  );
  const boxes = versions.map((each) => {
    const [x1, x2] = [
      x(each.validFrom === null ? from : Date.parse(each.validFrom)),
      x(each.validUntil === null ? until : Date.parse(each.validUntil)),
    ];
    const [top, bottom] = [y(each.revisionUntil), y(each.revisionFrom)];
    const holds = x1 <= pinX && pinX < x2 && isKnown(each, pin);
    const text = `v${each.version}${each.assertion ? ` · ${amount(each.assertion)}` : ''}`;
    return html`<g class="${holds ? 'version holds' : 'version'}"><rect x="${x1}" y="${top + 2}" width="${Math.max(2, x2 - x1)}" height="${Math.max(2, bottom - top - 4)}" rx="5"></rect>
${x2 - x1 > 40 && html`<text x="${x1 + 9}" y="${bottom - 23}">${text.slice(0, Math.floor((x2 - x1 - 12) / 6.4))}</text>`}</g>`;
  });
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${versions.length} versions by the time in which they hold and the revisions at which they were believed">
${steps.map((each) => html`<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${y(each)}" y2="${y(each)}"></line><text class="axis" x="0" y="${y(each) - 12}">rev ${each}</text>`)}
${years}${boxes}
<line class="cross" x1="${pinX}" x2="${pinX}" y1="0" y2="${height - BOTTOM}"></line><line class="cross" x1="${LEFT}" x2="${WIDTH}" y1="${pinY}" y2="${pinY}"></line>
</svg><p class="note">→ when it holds in the world; ↑ the revisions at which it was believed. The cross is valid at ${day(pin.validAt, '')}, revision ${pin.revision}.</p>`;
}

function amount({ value, unit }: { readonly value: string; readonly unit: string | null }): string {
  return unit === 'percent' ? `${value} %` : `${value} ${unit ?? ''}`.trim();
}

export function isKnown({ revisionFrom, revisionUntil }: FactView, { revision }: Pin): boolean {
  return revisionFrom <= revision && (revisionUntil === null || revision < revisionUntil);
}

/** Beginnings of years, at most nine. */
function ticks(from: number, until: number): number[] {
  const [first, last] = [new Date(from).getUTCFullYear() + 1, new Date(until).getUTCFullYear()];
  const every = Math.max(1, Math.ceil((last - first + 1) / 9));
  return Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, i) => Date.UTC(first + i * every, 0));
}
