/**
 * What `defineExecutor` returns: enough to check a workflow that uses it, by types while it is written and by schema
 * when it is loaded.
 */
export type ExecutorContract<I = unknown, O = unknown> = {
  readonly role: string;
  readonly name: string;
  /** JSON Schemas of its input and output. */
  readonly contract: { readonly input: unknown; readonly output: unknown };
  /** For the type checker alone; never present at run time. */
  readonly types?: { readonly input: I; readonly output: O };
};
