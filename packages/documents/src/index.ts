export { type Bounds, DEFAULT_BOUNDS } from './bounds.ts';
export type { DocumentError, ReadDocumentResult } from './document.ts';
export { pageOf, pageStarts } from './pages.ts';
export { readDocumentFile } from './read-file.ts';
export { type ReadYaml, readYaml } from './read-yaml.ts';
