import {
  createModel,
  type ModelBudget,
  type ModelCall,
  type ModelProvider,
  type ModelRequest,
  modelConfig,
  modelEnum,
  type RefusedTool,
} from '@cleanslate/llm';
import { parseConfig } from '@cleanslate/runtime';
import { startModelServer } from '@cleanslate/testing';
import { z } from 'zod';

export const Finding = z.strictObject({
  severity: modelEnum({ LOW: ['低'], MEDIUM: ['中'], HIGH: ['high risk', '高', '高风险'] }),
  text: z.string().min(1),
});
export const GOOD = { severity: 'HIGH', text: 'no cap on liability' };

export const request: ModelRequest<z.infer<typeof Finding>> = {
  purpose: 'find-risk',
  instructions: 'Find the greatest risk.',
  data: [{ id: 'doc-1', title: 'Contract', text: 'The supplier is liable without limit.' }],
  output: Finding,
  offline: () => ({ severity: 'LOW', text: 'by rule' }),
};

export type Asked = AsyncDisposable & {
  readonly server: Awaited<ReturnType<typeof startModelServer>>;
  readonly model: ModelProvider;
  readonly calls: ModelCall[];
  readonly refusedTools: RefusedTool[];
};

/** A simulated server, and a model configured for it by the environment's own names. */
export async function startModel(
  env: Readonly<Record<string, string>> = {},
  parts: { readonly budget?: ModelBudget } = {},
): Promise<Asked> {
  const server = await startModelServer();
  const calls: ModelCall[] = [];
  const refusedTools: RefusedTool[] = [];
  const settings = parseConfig(z.object(modelConfig), {
    MODEL: 'simulated',
    MODEL_URL: server.url,
    MODEL_API_KEY: 'sk-simulated-key-0001',
    // Longer than any test: a slow machine is no fault of the server.
    MODEL_TIMEOUT_MS: '120000',
    MODEL_HEADERS_TIMEOUT_MS: '120000',
    MODEL_FIRST_TOKEN_TIMEOUT_MS: '120000',
    ...env,
  });
  const model = await createModel(settings, {
    ...parts,
    onCall: (call) => calls.push(call),
    onToolRefused: (refused) => refusedTools.push(refused),
  });
  return { server, model, calls, refusedTools, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

export const quiet = () => ({ signal: new AbortController().signal });
