export { askInParts } from './chat/ask-in-parts.ts';
export type { CallLease, ModelBudget, PlannedCall } from './chat/budget.ts';
export { type ModelSettings, modelConfig } from './chat/config.ts';
export { createModel, type ModelParts } from './chat/create-model.ts';
export type { ModelCall } from './chat/exchange.ts';
export { modelEnum, modelNumber, modelRange } from './chat/fields.ts';
export {
  type AskOptions,
  addUsage,
  type DataBlock,
  type ModelAnswer,
  type ModelProvider,
  type ModelRequest,
  type ModelUsage,
  NO_USAGE,
} from './chat/model.ts';
export { offlineModel } from './chat/offline.ts';
export { estimateTokens, type TokenEstimate } from './chat/tokens.ts';
export { defineTool, type ModelTool, type RefusedTool, type ToolRequest } from './chat/tool.ts';
export { type EmbeddingProvider, type EmbeddingSpace, toUnitVector } from './embeddings/embedding-space.ts';
export { embeddingsOf, followSpace, type KeptSpace, type SpaceFollower } from './embeddings/follow-space.ts';
export { hashedEmbeddings } from './embeddings/hashed.ts';
export { createEmbeddings, type EmbeddingSettings, embeddingConfig } from './embeddings/provider.ts';
