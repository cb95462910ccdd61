import type { SourceParams } from '@cleanslate/domain';
import { fillTemplate, type Template } from '../mapping/template.ts';

/**
 * The URL with its values, each one encoded whole; undefined if a value would be a step in the path (`..`) instead of a
 * name.
 */
export function fillUrl(template: Template, params: SourceParams): URL | undefined {
  const text = fillTemplate(template, params, encodeURIComponent) ?? stripped(template);
  const path = text.split(/[?#]/, 1)[0] ?? '';
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) return undefined;
  return URL.canParse(text) ? new URL(text) : undefined;
}

function stripped({ parts }: Template): string {
  return parts.filter((part) => typeof part === 'string').join('');
}
