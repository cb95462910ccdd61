export { type CallDecision, type CallLimit, decideCall, type LimitUse } from './decide-call.ts';
