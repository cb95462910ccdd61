import { AppError } from '@cleanslate/contracts';
import { toBooleanArray, toLines, toNumberArray, toTextArray } from './arrays.ts';

/** How one column of many rows travels: as one parameter. */
export type Column<Row> = {
  /** Reads the parameter `$n`, a row for each element. */
  readonly read: (parameter: string) => string;
  readonly write: (rows: readonly Row[]) => string;
};

type Of<Row, Value> = (row: Row) => Value | null;

export function integer<Row>(of: Of<Row, number>, type: 'int2' | 'int4' | 'int8' = 'int4'): Column<Row> {
  return { read: (parameter) => `unnest(${parameter}::${type}[])`, write: (rows) => toNumberArray(rows.map(of)) };
}

export function text<Row>(of: Of<Row, string>, type: 'text' | 'timestamptz' = 'text'): Column<Row> {
  return { read: (parameter) => `unnest(${parameter}::${type}[])`, write: (rows) => toTextArray(rows.map(of)) };
}

export function boolean<Row>(of: (row: Row) => boolean): Column<Row> {
  return { read: (parameter) => `unnest(${parameter}::bool[])`, write: (rows) => toBooleanArray(rows.map(of)) };
}

/** A value that becomes a JSON document; null and undefined become no value. */
export function json<Row>(of: (row: Row) => unknown): Column<Row> {
  return {
    read: (parameter) => `unnest(string_to_array(${parameter}, E'\\n', '')::json[])`,
    write: (rows) => toLines(rows.map((row) => toDocument(of(row)))),
  };
}

/** A time in milliseconds since 1970. Throws where it is no number: written as JSON it would be none. */
export function time<Row>(of: Of<Row, number>): Column<Row> {
  return {
    read: (parameter) => `to_timestamp(unnest(${parameter}::int8[])::float8 / 1000)`,
    write: (rows) => toNumberArray(rows.map((row) => toMs(of(row)))),
  };
}

/** The columns of a batch's rows, for statements that read them side by side; made once for each statement. */
export class Columns<Row> {
  readonly names: readonly string[];
  /** A list for SELECT, of as many parameters as there are columns. */
  readonly list: string;
  readonly #columns: readonly Column<Row>[];

  constructor(columns: Readonly<Record<string, Column<Row>>>) {
    this.names = Object.keys(columns);
    this.#columns = Object.values(columns);
    this.list = Object.entries(columns)
      .map(([name, { read }], i) => `${read(`$${i + 1}`)} AS ${name}`)
      .join(', ');
  }

  parametersOf(rows: readonly Row[]): string[] {
    return this.#columns.map(({ write }) => write(rows));
  }
}

function toDocument(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** Whole milliseconds, as a time read back has them. */
function toMs(at: number | null): number | null {
  if (at === null) return null;
  if (!Number.isFinite(at)) throw new AppError('INTERNAL', `a time to be stored is ${at}`);
  return Math.trunc(at);
}
