import { expect, it } from 'vitest';
import { findDoubt, type StandingVersion, type Support } from './standing.ts';

const [ALWAYS, FOREVER, NOW] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 100];
const version = (signature: string, from: number, until: number): StandingVersion => ({
  version: 2,
  signature,
  valid: { from, until },
});
const support = (from: number, until: number, writtenAt = 50): Support => ({
  ...version('a', from, until),
  version: 1,
  writtenAt,
});

it.each<[string, Support, StandingVersion[], ReturnType<typeof findDoubt>]>([
  ['itself is believed', support(ALWAYS, FOREVER), [version('a', ALWAYS, FOREVER)], null],
  ['it was reworded', support(ALWAYS, FOREVER), [version('a', ALWAYS, FOREVER)], null],
  [
    'something else holds now',
    support(ALWAYS, FOREVER),
    [version('a', ALWAYS, 90), version('b', 90, FOREVER)],
    'superseded',
  ],
  ['something else will hold', support(ALWAYS, FOREVER), [version('a', ALWAYS, 150), version('b', 150, FOREVER)], null],
  ['the past was corrected', support(ALWAYS, FOREVER), [version('b', ALWAYS, 20), version('a', 20, FOREVER)], null],
  ['nothing is believed', support(ALWAYS, FOREVER), [], 'retracted'],
  ['its period ended', support(0, 90), [version('a', 0, 90)], 'expired'],
  ['it isn’t due yet', support(200, FOREVER), [version('a', 200, FOREVER)], null],
  ['what isn’t due yet was taken back', support(200, FOREVER), [version('b', ALWAYS, 200)], 'retracted'],
  [
    'it was history when it was written, and still is',
    support(0, 40),
    [version('a', 0, 40), version('b', 40, FOREVER)],
    null,
  ],
  ['a part of history was corrected', support(0, 40), [version('a', 0, 30), version('b', 30, FOREVER)], 'superseded'],
  ['a part of history is unknown now', support(0, 40), [version('a', 0, 30)], 'retracted'],
])('%s', (_name, upstream, believed, doubt) => {
  expect(findDoubt(upstream, believed, NOW)).toBe(doubt);
});
