import { readFileSync } from 'node:fs';

const GUIDE = readFileSync(new URL('../../docs/how-to/sources.md', import.meta.url), 'utf8');

/** The guide's example of a kind, with the given parts replaced; each must stand there. */
export function exampleOf(kind: string, replaced: Readonly<Record<string, string>> = {}): string {
  const blocks = [...GUIDE.matchAll(/```yaml\n(sources:\n[\s\S]*?)```/g)].map(([, block = '']) => block);
  let found = blocks.find((block) => block.includes(`\n    kind: ${kind}\n`));
  if (found === undefined) throw new Error(`docs/how-to/sources.md has no example of ${kind}`);
  for (const [what, by] of Object.entries(replaced)) {
    if (!found.includes(what)) throw new Error(`the example of ${kind} does not hold ${what}`);
    found = found.replaceAll(what, by);
  }
  return found;
}
