import { AccessLevel } from '@cleanslate/contracts';
import type { Hit } from '../adapter.ts';
import { sourceError } from '../source-error.ts';
import { fillTemplate, type Template } from './template.ts';
import { toUtcTime } from './to-utc-time.ts';

/** How a row, an item or a payload becomes evidence. */
export type RecordMapping = {
  readonly content: Template;
  readonly locator: Template;
  readonly title?: Template | undefined;
  readonly validFrom?: Template | undefined;
  readonly validUntil?: Template | undefined;
  readonly version?: Template | undefined;
  /** Shared by all versions of one thing. Default: the locator. */
  readonly series?: Template | undefined;
  readonly score?: Template | undefined;
  readonly accessLevel?: Template | undefined;
};

/** Null: the record has no content. Throws `SOURCE_BAD_ANSWER` naming the field that can't be read. */
export function toHit(source: string, mapping: RecordMapping, record: unknown, givenScore: number): Hit | null {
  const read = (field: keyof RecordMapping) => {
    const template = mapping[field];
    const text = template === undefined ? undefined : fillTemplate(template, record)?.trim();
    return text === '' ? undefined : text;
  };
  const bad = (field: string, what: string) =>
    sourceError('SOURCE_BAD_ANSWER', source, `gave a record whose ${field} is ${what}: check evidence.${field}`);
  const content = read('content');
  if (content === undefined) return null;
  const locator = read('locator');
  if (locator === undefined) throw bad('locator', 'empty');
  const time = (field: 'validFrom' | 'validUntil') => {
    const text = read(field);
    const utc = text === undefined ? undefined : toUtcTime(text);
    if (text !== undefined && utc === undefined) throw bad(field, 'no date or time');
    return utc;
  };
  const version = read('version');
  if (version !== undefined && !/^[1-9][0-9]{0,14}$/.test(version)) throw bad('version', 'no whole number from 1 up');
  const score = read('score');
  if (score !== undefined && !Number.isFinite(Number(score))) throw bad('score', 'no number');
  const level = read('accessLevel');
  const accessLevel = AccessLevel.safeParse(level);
  // If it is unknown who may read it, nobody may.
  if (level !== undefined && !accessLevel.success)
    throw bad('accessLevel', `none of ${AccessLevel.options.join(', ')}`);
  const [validFrom, validUntil, title] = [time('validFrom'), time('validUntil'), read('title')];
  return {
    content,
    locator,
    score: score === undefined ? givenScore : Number(score),
    series: read('series') ?? locator,
    ...(version === undefined ? {} : { version: Number(version) }),
    ...(title === undefined ? {} : { title }),
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validUntil === undefined ? {} : { validUntil }),
    ...(accessLevel.success ? { accessLevel: accessLevel.data } : {}),
  };
}

/** For a source that ranks without scores: the first is 1, the eleventh a half. */
export function scoreOfPlace(index: number): number {
  return 10 / (10 + index);
}
