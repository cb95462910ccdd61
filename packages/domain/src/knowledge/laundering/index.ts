export type { FadingVersion } from './fading.ts';
export {
  type ExpiredFact,
  type LaunderFindings,
  type LaunderPlan,
  planLaundering,
  type UncitedFact,
} from './plan-laundering.ts';
export type { TwinVersion } from './twins.ts';
