import { DocumentRef, Pin, VerdictReason } from '@cleanslate/contracts';
import { defineExecutor, type Executor } from '@cleanslate/runtime';
import { Analysis, ContractReport, generateReport } from '@cleanslate/workflows';
import { z } from 'zod';

/** The report from the analysis, for machines and (as Markdown) for people; it adds no statement of its own. */
export function generateExecutor(): Executor {
  return defineExecutor({
    role: 'generator',
    name: 'contract-review/generate',
    input: z.strictObject({
      document: DocumentRef,
      pin: Pin,
      analysis: Analysis,
      feedback: z.array(VerdictReason).nullable(),
    }),
    output: z.strictObject({ report: ContractReport }),
    pure: true,
    run: ({ input }) => {
      const { name, sha256, bytes } = input.document;
      return { report: generateReport(input.analysis, { document: { name, sha256, bytes }, pin: input.pin }) };
    },
  });
}
