import { z } from 'zod';
import type { JsonTemplate } from '../http-json/fill-body.ts';
import { parseTemplate, type Template } from '../mapping/template.ts';

export const template = z
  .string()
  .min(1)
  .max(4_000)
  .transform((text, context): Template => {
    try {
      return parseTemplate(text);
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : 'is not a template');
      return z.NEVER;
    }
  });

/** How a record becomes evidence; each a template over its fields. */
export const mapping = z.strictObject({
  content: template,
  locator: template,
  title: template.optional(),
  validFrom: template.optional(),
  validUntil: template.optional(),
  version: template.optional(),
  series: template.optional(),
  score: template.optional(),
  accessLevel: template.optional(),
});

/** A JSON body in YAML: maps, lists and texts with `{param}`. */
export const jsonTemplate: z.ZodType<JsonTemplate> = z.lazy(() =>
  z.union([
    z.null().transform(() => ({ value: null })),
    template.transform((parsed) => ({ template: parsed })),
    z.array(jsonTemplate).transform((list) => ({ list })),
    z.record(z.string(), jsonTemplate).transform((map) => ({ map: Object.entries(map) })),
  ]),
) as unknown as z.ZodType<JsonTemplate>;

/** Scheme and host are fixed: a value may never choose which host is asked. */
export const urlTemplate = template.refine(
  ({ text }) => /^https?:\/\/[^/{}?#@\s]+(?:[/?][^#]*)?$/.test(text),
  'must begin with http:// or https:// and a host without {param}, user or password',
);
