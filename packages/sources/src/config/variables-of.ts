import type { SourceSettings } from './schema.ts';

/** The environment variables that sources name, which a process that asks them needs. */
export function variablesOf(settings: readonly SourceSettings[]): string[] {
  const names = settings.flatMap((source) => {
    if (source.kind === 'files') return [];
    if (source.kind === 'sql') return [source.urlFrom];
    if (source.auth === undefined) return [];
    const { auth } = source;
    if (auth.type === 'bearer') return [auth.tokenFrom];
    return [auth.type === 'basic' ? auth.passwordFrom : auth.valueFrom];
  });
  return [...new Set(names)];
}
