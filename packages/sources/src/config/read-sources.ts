import { AppError, isAppError, issueWords } from '@cleanslate/contracts';
import { readYaml } from '@cleanslate/documents';
import { checkParams } from './check-params.ts';
import { type SourceSettings, SourcesFile } from './schema.ts';

/** The knowledge base is always there, under this name. */
export const KNOWLEDGE_SOURCE = 'knowledge';

/**
 * The sources that a file declares (YAML; JSON is YAML too). Throws one `CONFIGURATION` error with every fault, each
 * with file, line, field and remedy. The file contains no credentials: it names variables of the environment.
 */
export function readSources(bytes: Uint8Array, file: string): SourceSettings[] {
  const faults: string[] = [];
  try {
    const read = readYaml(bytes, file, { holds: 'one list of sources', needs: 'sources: with one source or more' });
    const parsed = SourcesFile.safeParse(read.value);
    const tell = (path: readonly PropertyKey[], what: string) => {
      const keys = path.map((key) => (typeof key === 'symbol' ? String(key) : key));
      faults.push(read.fault(keys, what, 'docs/how-to/sources.md has an example of each kind').message);
    };
    for (const issue of parsed.error?.issues ?? []) tell(issue.path, issueWords(issue, read.value));
    const sources = parsed.data?.sources ?? [];
    for (const [index, source] of sources.entries()) {
      const first = sources.findIndex(({ name }) => name === source.name);
      if (source.name === KNOWLEDGE_SOURCE)
        tell(['sources', index, 'name'], 'is the knowledge base, which is there anyway');
      else if (first !== index) tell(['sources', index, 'name'], `is taken by the source at ${first}`);
      for (const { path, what } of checkParams(source)) tell(['sources', index, ...path], what);
    }
    if (faults.length === 0) return sources;
  } catch (error) {
    if (!isAppError(error)) throw error;
    faults.push(error.message);
  }
  throw new AppError('CONFIGURATION', `sources:\n${faults.map((fault) => `  ${fault}`).join('\n')}`, {
    details: { faults },
  });
}
