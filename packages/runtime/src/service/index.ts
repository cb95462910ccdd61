// What services other than workers are made of: configuration, logs, health, connections.

export { baseConfig, databaseConfig, rolloutConfig, wholeNumber } from '../config/config.ts';
export { checkBus } from '../health/check-bus.ts';
export type { ReadyChecks } from '../health/health-server.ts';
export type { Metrics } from '../health/metrics.ts';
export type { Logger } from '../log/logger.ts';
export { scrub } from '../log/scrub.ts';
export { parseTraceparent } from '../tracing/trace-context.ts';
export type { Span, Tracer } from '../tracing/tracer.ts';
export { AgeWatch, untilBrokerAnswers } from './age-watch.ts';
export { connectServiceBus, openServiceDatabase } from './connections.ts';
export { runService } from './run-service.ts';
