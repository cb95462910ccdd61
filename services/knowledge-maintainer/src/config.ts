import { embeddingConfig } from '@cleanslate/llm';
import { baseConfig, databaseConfig, rolloutConfig, wholeNumber } from '@cleanslate/runtime';
import { z } from 'zod';

const fraction = z
  .string()
  .regex(/^(?:0(?:\.[0-9]{1,4})?|1(?:\.0{1,4})?)$/, 'must be a number from 0 to 1')
  .transform(Number);

export const maintainerConfig = baseConfig.extend({
  ...databaseConfig,
  ...embeddingConfig,
  ...rolloutConfig,
  TRUSTED_CONFIDENCE: fraction
    .default(0.75)
    .describe('lowest accepted confidence of candidates from internal documents'),
  DERIVED_CONFIDENCE: fraction.default(0.9).describe('lowest accepted confidence of candidates that a model derived'),
  MIN_IMPORTANCE: fraction.default(0.3).describe('lowest accepted importance of candidates'),
  LAUNDER_EVERY_HOURS: wholeNumber({ min: 1, max: 8_760 })
    .default(24)
    .describe('hours between two rounds of laundering'),
  SLOTS: wholeNumber({ min: 1, max: 5_000 }).default(500).describe('messages in hand per stream'),
});
