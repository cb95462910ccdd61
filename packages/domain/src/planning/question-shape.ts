/** What a template reads in a question whose times were removed. */
export type QuestionShape =
  | { readonly shape: 'comparison'; readonly topics: readonly [string, string] }
  /** One topic at two times: only if the question names two. */
  | { readonly shape: 'comparison_over_time'; readonly topic: string }
  /** The second names the result of the first as `{g1}`. */
  | { readonly shape: 'multi_hop'; readonly first: string; readonly second: string }
  /** How something changed: all its versions. */
  | { readonly shape: 'change'; readonly topic: string }
  | { readonly shape: 'lookup'; readonly topic: string };

export type Template = {
  readonly pattern: RegExp;
  /** Null if the words fit but the meaning doesn't. */
  readonly read: (groups: Readonly<Record<string, string>>) => QuestionShape | null;
};

/** The first template that reads the question. */
export function readShape(templates: readonly Template[], question: string): QuestionShape | null {
  for (const { pattern, read } of templates) {
    const groups = pattern.exec(question)?.groups;
    const shape = groups === undefined ? null : read(groups);
    if (shape !== null) return shape;
  }
  return null;
}
