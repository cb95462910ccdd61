import { AppError } from '@cleanslate/contracts';
import { z } from 'zod';
import type { ModelRequest } from './model.ts';

/** What a model may have done for it, and nothing else: a call of another name is refused. */
export type ModelTool<I = unknown> = {
  readonly name: string;
  /** For the model: what it does, and when to use it. */
  readonly description: string;
  readonly input: z.ZodType<I>;
  /**
   * Called with valid input. The model is shown the result as data; an exception ends the step as the error says. A
   * tool with effects checks `ctx.fence()` first, as any executor does.
   */
  readonly run: (input: I, options: { readonly signal: AbortSignal }) => unknown;
};

export type ToolRequest<T> = ModelRequest<T> & {
  readonly tools: readonly ModelTool[];
  /** Most tool calls. Default 16. */
  readonly maxCalls?: number;
  /** Most tokens of all its requests together. Default 200,000. */
  readonly maxTokens?: number;
};

/** Called for a call that the request does not allow: somebody talked the model into it, or it made it up. */
export type RefusedTool = { readonly purpose: string; readonly tool: string };

/** A checked tool. Throws `CONFIGURATION` for a name that servers refuse. */
export function defineTool<I>(tool: ModelTool<I>): ModelTool {
  if (!/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/.test(tool.name))
    throw new AppError('CONFIGURATION', `tool ${JSON.stringify(tool.name)}: use letters, digits, "_" and "-"`);
  // Its own schema checks the arguments, so it only ever runs with valid ones.
  return { ...tool, run: (input, options) => tool.run(input as I, options) };
}

export function toToolSpec({ name, description, input }: ModelTool): object {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
  });
  return { type: 'function', function: { name, description, parameters } };
}
