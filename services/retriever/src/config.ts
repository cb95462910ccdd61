import { embeddingConfig } from '@cleanslate/llm';
import { readingWorkerConfig } from '@cleanslate/runtime';
import { z } from 'zod';

export const retrieverConfig = readingWorkerConfig.extend({
  ...embeddingConfig,
  SOURCES_FILE: z
    .string()
    .optional()
    .describe('YAML file that declares what agents may ask beside the knowledge base; unset: nothing'),
});
