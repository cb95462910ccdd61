export { type OpenSources, openSources, type SourceState } from './config/open-sources.ts';
export { KNOWLEDGE_SOURCE, readSources } from './config/read-sources.ts';
export type { SourceSettings } from './config/schema.ts';
export { variablesOf } from './config/variables-of.ts';
export type { GuardHooks, SourceAnswer } from './guard/guarded.ts';
export type { KnowledgePort, KnowledgeQuestion } from './knowledge/knowledge-adapter.ts';
export type { Embedder } from './qdrant/qdrant-adapter.ts';
