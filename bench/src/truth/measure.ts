import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@cleanslate/client';
import type { FactImport } from '@cleanslate/contracts';
import type { z } from 'zod';

export type Measure = {
  readonly name: string;
  readonly value: string;
  readonly target?: string;
  /** Left out where there is no target. */
  readonly met?: boolean;
};

/** The data is not what it is taken for; the message names file and row. */
export class UnreadableData extends Error {
  override readonly name = 'UnreadableData';
}

export function share(name: string, part: number, whole: number, least: number): Measure {
  const ratio = whole === 0 ? 0 : part / whole;
  return {
    name,
    value: `${(100 * ratio).toFixed(2)} % (${part} of ${whole})`,
    target: `≥ ${100 * least} %`,
    met: ratio >= least,
  };
}

export function none(name: string, count: number, of: number): Measure {
  return { name, value: `${count} of ${of}`, target: '0', met: count === 0 };
}

/**
 * JSON and JSON-lines files of a sub-folder, by name; undefined where it is absent. Throws
 * `UnreadableData` where it holds none.
 */
function findFiles(folder: string, part: string): string[] | undefined {
  const path = join(folder, part);
  if (!existsSync(path)) return undefined;
  const files = readdirSync(path)
    .filter((name) => /\.jsonl?$/.test(name))
    .sort();
  if (files.length === 0) throw new UnreadableData(`${path} holds no .json or .jsonl file`);
  return files.map((name) => join(path, name));
}

/**
 * Rows of all files of a sub-folder, whatever they are called: a JSON array, or JSON lines. Undefined
 * where the sub-folder is absent.
 */
export function readRows<S extends z.ZodType>(folder: string, part: string, schema: S): z.infer<S>[] | undefined {
  return findFiles(folder, part)?.flatMap((file) =>
    parseRows(file).map((row, index) => {
      const read = schema.safeParse(row);
      if (read.success) return read.data;
      const [issue] = read.error.issues;
      throw new UnreadableData(`${file}, row ${index + 1}, ${issue?.path.join('.')}: ${issue?.message}`);
    }),
  );
}

function parseRows(file: string): unknown[] {
  const text = readFileSync(file, 'utf8');
  if (file.endsWith('.json')) {
    const whole = parseJson(text, file);
    return Array.isArray(whole) ? whole : [whole];
  }
  const lines = text.split('\n').map((line, index) => [line, index + 1] as const);
  return lines.filter(([line]) => line.trim() !== '').map(([line, at]) => parseJson(line, `${file}, line ${at}`));
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableData(`${where} is no JSON: ${error instanceof Error ? error.message : error}`);
  }
}

/** A fact that is a text with one or more periods. */
export function toTextFact(knowledgeId: string, subject: string, periods: FactImport['periods']): FactImport {
  return {
    knowledgeId,
    subject: subject.slice(0, 200),
    predicate: 'text',
    unit: null,
    tags: [],
    polarity: 'positive',
    modality: 'is',
    knowledgeType: 'rule',
    periods,
  };
}

/** Imports in portions that fit a message; the last revision. */
export async function importAll(client: Client, sourceRef: string, facts: readonly FactImport[]): Promise<number> {
  let revision = 0;
  for (let from = 0; from < facts.length; from += 100) {
    const set = { sourceRef, sourceType: 'internal_document' as const, facts: facts.slice(from, from + 100) };
    revision = (await client.facts.import(set)).revision;
  }
  return revision;
}

/** Runs `work` for each item, four at a time. */
export async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at];
      if (item !== undefined) await work(item);
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}
