import type { SourceSettings } from './schema.ts';

/** The variables of the environment that sources name: what a process needs that asks them. */
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
