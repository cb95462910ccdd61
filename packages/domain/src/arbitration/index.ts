export {
  arbitrateResults,
  type ExecutorResult,
  type RankedResult,
  type ResultRuling,
  VETO_BELOW,
} from './arbitrate-results.ts';
