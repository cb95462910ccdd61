/** One service's `/metrics`, read. */
export type Exposition = {
  readonly types: ReadonlyMap<string, string>;
  readonly series: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
};

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Prometheus' text format. Throws at a line that is none of it. */
export function parseExposition(text: string): Exposition {
  const types = new Map<string, string>();
  const series: Exposition['series'][number][] = [];
  for (const line of text.split('\n')) {
    const [, typed, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (typed !== undefined && type !== undefined) types.set(typed, type);
    if (line === '' || line.startsWith('#')) continue;
    const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? [];
    if (name === '') throw new Error(`no line of the text format: ${line}`);
    const found = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, text] as const);
    series.push({ name, labels: Object.fromEntries(found), value: Number(value) });
  }
  return { types, series };
}

/** A histogram's parts are its own. */
export function familyOf(name: string, types: ReadonlyMap<string, string>): string {
  const base = name.replace(/_(bucket|sum|count)$/, '');
  return types.get(base) === 'histogram' ? base : name;
}
