/** One thing that may happen. `fair`: what a platform that works does by itself, sooner or later. */
export type Move<S> = { readonly label: string; readonly fair: boolean; readonly to: S };

export type Model<S> = {
  readonly start: S;
  /** Two states with one key behave the same from here on. */
  readonly keyOf: (state: S) => string;
  /**
   * All that may happen next. `depth` grows from state to state: a clock for those who need one.
   * Throws where a move breaks a rule.
   */
  readonly movesOf: (state: S, depth: number) => Iterable<Move<S>>;
  /** Throws where the state breaks a rule. */
  readonly check: (state: S) => void;
  readonly isEnd: (state: S) => boolean;
};

export type ExploreOptions = {
  /** More states than this are an error: the model is too large. */
  readonly limit: number;
  /**
   * Also compares the states that share a key: all moves of one must be moves of the other, to the same keys.
   * Takes several times as long.
   */
  readonly checkKeys?: boolean;
};

export type Explored = { readonly states: number; readonly transitions: number; readonly ends: number };

/** A rule was broken; the message tells the shortest story that breaks it. */
export class Violation extends Error {
  readonly story: readonly string[];
  constructor(what: string, story: readonly string[]) {
    super(`${what}\n  after: ${story.join(' → ') || 'nothing'}`);
    this.story = story;
  }
}

/**
 * Visits every state that can be reached, breadth first, each once. Throws `Violation` where a state or a move breaks a
 * rule, or where a state has no fair way to an end.
 */
export function explore<S>(model: Model<S>, { limit, checkKeys = false }: ExploreOptions): Explored {
  const graph = new Graph();
  const twins = new Twins(model, graph);
  let frontier: readonly S[] = [model.start];
  visit(model, graph, model.start, graph.add(model.keyOf(model.start), -1, ''));
  for (let depth = 0, first = 0; frontier.length > 0; depth++) {
    const next: S[] = [];
    frontier.forEach((state, i) => {
      const from = first + i;
      const moves = movesOf(model, graph, state, from, depth);
      if (checkKeys) twins.learn(from, moves, depth);
      for (const { label, fair, to } of moves) {
        const key = model.keyOf(to);
        const known = graph.find(key);
        const index = known ?? graph.add(key, from, label);
        if (fair) graph.link(from, index);
        graph.transitions++;
        if (known === undefined) {
          visit(model, graph, to, index);
          next.push(to);
        } else if (checkKeys) twins.compare(index, to, depth + 1);
      }
    });
    if (graph.size > limit) throw new Error(`more than ${limit} states after ${depth} moves: the model is too large`);
    first += frontier.length;
    frontier = next;
  }
  const stuck = graph.findStuck();
  if (stuck !== undefined) throw new Violation('no fair way to an end', graph.storyOf(stuck));
  return { states: graph.size, transitions: graph.transitions, ends: graph.ends.length };
}

function visit<S>(model: Model<S>, graph: Graph, state: S, index: number): void {
  guarded(graph, index, () => model.check(state));
  if (model.isEnd(state)) graph.ends.push(index);
}

function movesOf<S>(model: Model<S>, graph: Graph, state: S, index: number, depth: number): readonly Move<S>[] {
  return guarded(graph, index, () => [...model.movesOf(state, depth)]);
}

function guarded<T>(graph: Graph, index: number, look: () => T): T {
  try {
    return look();
  } catch (error) {
    throw new Violation(error instanceof Error ? error.message : String(error), graph.storyOf(index));
  }
}

/** Whether a key hides something: states that share it are compared by what may happen next. */
class Twins<S> {
  readonly #model: Model<S>;
  readonly #graph: Graph;
  readonly #signatures: string[] = [];
  /** Met before the first state with their key was expanded. */
  readonly #waiting = new Map<number, S[]>();

  constructor(model: Model<S>, graph: Graph) {
    this.#model = model;
    this.#graph = graph;
  }

  learn(index: number, moves: readonly Move<S>[], depth: number): void {
    this.#signatures[index] = this.#sign(moves);
    // Later than any move that led to one of them.
    for (const twin of this.#waiting.get(index) ?? []) this.compare(index, twin, depth + 1);
    this.#waiting.delete(index);
  }

  compare(index: number, twin: S, depth: number): void {
    const expected = this.#signatures[index];
    if (expected === undefined) {
      this.#waiting.set(index, [...(this.#waiting.get(index) ?? []), twin]);
      return;
    }
    const found = this.#sign(movesOf(this.#model, this.#graph, twin, index, depth));
    if (found === expected) return;
    throw new Violation(`one key for two states: ${found} and ${expected}`, this.#graph.storyOf(index));
  }

  #sign(moves: readonly Move<S>[]): string {
    return moves.map(({ label, to }) => `${label} → ${this.#model.keyOf(to)}`).join('\n');
  }
}

/** States by number, in the order in which they were found, with the first way to each. */
class Graph {
  readonly #indexes = new Map<string, number>();
  readonly #parents: number[] = [];
  readonly #labels: string[] = [];
  /** By target: where fair moves to it come from. */
  readonly #sources: number[][] = [];
  readonly ends: number[] = [];
  transitions = 0;

  get size(): number {
    return this.#parents.length;
  }

  find(key: string): number | undefined {
    return this.#indexes.get(key);
  }

  add(key: string, parent: number, label: string): number {
    const index = this.size;
    this.#indexes.set(key, index);
    this.#parents.push(parent);
    this.#labels.push(label);
    this.#sources.push([]);
    return index;
  }

  link(from: number, to: number): void {
    this.#sources[to]?.push(from);
  }

  storyOf(index: number): readonly string[] {
    const story: string[] = [];
    for (let at = index; at > 0; at = this.#parents[at] ?? 0) story.unshift(this.#labels[at] ?? '?');
    return story;
  }

  /** The first state from which fair moves lead to no end. */
  findStuck(): number | undefined {
    const saved = new Uint8Array(this.size);
    const queue = [...this.ends];
    for (const end of queue) saved[end] = 1;
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      for (const source of this.#sources[at] ?? []) {
        if (saved[source] === 1) continue;
        saved[source] = 1;
        queue.push(source);
      }
    }
    const stuck = saved.indexOf(0);
    return stuck === -1 ? undefined : stuck;
  }
}
