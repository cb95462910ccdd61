import { createEmbeddings, embeddingConfig } from '@cleanslate/llm';
import { openDatabase, reembed } from '@cleanslate/store';
import type { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { inputError } from '../input-error.ts';
import { reach } from '../reach-database.ts';
import { findAdminUrl } from './migrate.ts';
import { withExamples } from './options.ts';

type ReembedOptions = {
  readonly model: string;
  readonly dimension: string;
  readonly url?: string;
  readonly dropRetired?: boolean;
  readonly json?: boolean;
};

export function addReembed(fact: Command, context: CommandContext): void {
  const command = fact
    .command('reembed')
    .description(
      'move the whole knowledge base to another embedding model while everything runs; exit code 1 if it refuses a statement',
    )
    .requiredOption('--model <name>', '"hashed" (packaged), or a model at --url')
    .option('--dimension <length>', "length of the model's vectors", '384')
    .option('--url <url>', 'base of an OpenAI-compatible API; its key is read from EMBEDDING_API_KEY')
    .option('--drop-retired', 'afterwards delete vectors that nobody uses any more')
    .option('--json', 'print JSON for machines');
  withExamples(
    command,
    'slate fact reembed --model hashed --dimension 768',
    'EMBEDDING_API_KEY=… slate fact reembed --model text-embedding-3-small --dimension 1536 --url https://api.openai.com/v1',
  );
  command.action(async ({ model, dimension, url, dropRetired, json }: ReembedOptions) => {
    const { out, note } = context.terminal;
    const chosen = z.object(embeddingConfig).safeParse({
      EMBEDDING_MODEL: model,
      EMBEDDING_DIMENSION: dimension,
      EMBEDDING_URL: url,
      EMBEDDING_API_KEY: context.config.embedding['EMBEDDING_API_KEY'],
    });
    if (!chosen.success) {
      const issue = chosen.error.issues[0];
      const where = `--${String(issue?.path[0] ?? '')
        .replace('EMBEDDING_', '')
        .toLowerCase()}`;
      throw inputError({ what: issue?.message ?? 'not valid', where, remedy: 'correct the option' });
    }
    const embeddings = await createEmbeddings(chosen.data);
    await using database = openDatabase({ url: await findAdminUrl(context), applicationName: 'slate-reembed' });
    const report = await reach(
      reembed(database, embeddings, {
        dropRetired: dropRetired ?? false,
        onProgress: (done) => note(`${done} versions embedded`),
      }),
    );
    if (report.refused.length > 0) context.exitCode = EXIT.taskFailed;
    if (json) return out(JSON.stringify(report));
    out(
      `the knowledge base is kept in ${report.space} now (${report.embedded} embedded, ${report.skipped} without a vector)`,
    );
    for (const { tenantId, fact: ref, reason } of report.refused)
      out(`refused: ${ref} of tenant "${tenantId}", which is found by its words alone: ${reason}`);
    if (report.dropped > 0) out(`${report.dropped} vectors of retired spaces deleted`);
    const settings = `EMBEDDING_MODEL=${model} EMBEDDING_DIMENSION=${dimension}${url ? ` EMBEDDING_URL=${url}` : ''}`;
    note(
      `what runs follows${url ? ' where its EMBEDDING_URL has that model' : ''}; whatever starts from now on needs ${settings}; of a local stack: slate down, then ${settings} slate up`,
    );
  });
}
