import fc from 'fast-check';

/** A node's first saying comes with its parents; later ones change it, take it back, or say the same again. */
const NODES = 6;
type Op =
  | { readonly op: 'derive'; readonly node: number; readonly parents: readonly number[] }
  | { readonly op: 'change'; readonly node: number; readonly value: string }
  | { readonly op: 'answer'; readonly node: number; readonly parents: readonly number[] }
  | { readonly op: 'retract'; readonly node: number };
const node = fc.integer({ min: 0, max: NODES - 1 });
export const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ op: fc.constant('derive' as const), node, parents: fc.uniqueArray(node, { maxLength: 3 }) }),
  fc.record({ op: fc.constant('change' as const), node, value: fc.constantFrom('a', 'b') }),
  fc.record({
    op: fc.constant('answer' as const),
    node,
    parents: fc.uniqueArray(node, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ op: fc.constant('retract' as const), node }),
);

/** The oracle: each fact's versions in plain lists, marks by walking up from every version. */
export class Model {
  readonly versions = new Map<string, { value: string; believed: boolean; parents: readonly string[] }>();
  readonly #last = new Map<number, number>();
  readonly graph: string;
  constructor(graph: string) {
    this.graph = graph;
  }

  id(at: number): string {
    return `${this.graph}n${at}`;
  }
  known(at: number): boolean {
    return this.#last.has(at);
  }
  holding(at: number): string | undefined {
    return [...this.versions].find(([ref, { believed }]) => believed && ref.startsWith(`${this.id(at)}@`))?.[1].value;
  }
  say(at: number, value: string, parents: readonly string[]): void {
    this.takeBack(at);
    const version = (this.#last.get(at) ?? 0) + 1;
    this.#last.set(at, version);
    this.versions.set(`${this.id(at)}@${version}`, { value, believed: true, parents });
  }
  /** An answer rests on what it names, and nobody ever says it anew. */
  answer(step: number, parents: readonly string[]): string {
    const taskId = `${this.graph}t${step}`;
    this.versions.set(`${taskId}@1`, { value: 'answer', believed: true, parents });
    return taskId;
  }
  takeBack(at: number): void {
    for (const [ref, version] of this.versions)
      if (ref.startsWith(`${this.id(at)}@`)) this.versions.set(ref, { ...version, believed: false });
  }
  stands(ref: string): boolean {
    const said = this.versions.get(ref);
    if (said === undefined) return true;
    const fact = ref.slice(0, ref.indexOf('@') + 1);
    return [...this.versions].some(
      ([other, { believed, value }]) => other.startsWith(fact) && believed && value === said.value,
    );
  }
  marks(): string[] {
    return [...this.versions.keys()]
      .flatMap((ref) => {
        const above = new Set<string>();
        const open = [...(this.versions.get(ref)?.parents ?? [])];
        for (let next = open.pop(); next !== undefined; next = open.pop()) {
          if (above.has(next)) continue;
          above.add(next);
          open.push(...(this.versions.get(next)?.parents ?? []));
        }
        above.delete(ref);
        return [...above].filter((cause) => !this.stands(cause)).map((cause) => `${ref} < ${cause}`);
      })
      .sort();
  }
}
