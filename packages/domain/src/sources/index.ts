export { Evidence, MAX_EVIDENCE_CHARS } from './evidence.ts';
export {
  SOURCE_KINDS,
  type Source,
  type SourceCatalog,
  SourceMetadata,
  SourceParam,
  SourceParams,
  type SourceQueryOptions,
} from './source.ts';
