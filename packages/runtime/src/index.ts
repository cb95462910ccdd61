// The process kit: what every service is made of.

export { AppError, isAppError, Verdict } from '@cleanslate/contracts';
export {
  type CompiledWorkflow,
  defineCheck,
  defineWorkflow,
  FORBIDDEN_KEYS,
  runChecklist,
  type WorkflowDefinition,
} from '@cleanslate/domain';
export {
  askInParts,
  type DataBlock,
  defineTool,
  type ModelAnswer,
  type ModelProvider,
  type ModelRequest,
  type ModelTool,
  type ModelUsage,
  modelEnum,
  modelNumber,
  modelRange,
  offlineModel,
  type ToolRequest,
} from '@cleanslate/llm';
export {
  baseConfig,
  databaseConfig,
  parseConfig,
  rolloutConfig,
  urlOf,
  wholeNumber,
} from './config/config.ts';
export { workerConfig } from './config/worker-config.ts';
export {
  defineExecutor,
  type Executor,
  type ExecutorContext,
  type ExecutorDefinition,
  type StepContext,
} from './executor/executor.ts';
export { noopExecutor } from './executor/noop.ts';
export { checkBus } from './health/check-bus.ts';
export {
  type HealthServer,
  type HealthServerOptions,
  type ReadyCheck,
  type ReadyChecks,
  startHealthServer,
} from './health/health-server.ts';
export { createMetrics, type Metrics } from './health/metrics.ts';
export { createLogger, type Logger, type LoggerOptions } from './log/logger.ts';
export { type SafeError, toSafeError } from './log/safe-error.ts';
export { scrub } from './log/scrub.ts';
export { type BuiltContext, buildContext, type ContextOptions, type ContextPart } from './memory/build-context.ts';
export { type Remembered, type RememberOptions, remember } from './memory/remember.ts';
export {
  type NewSessionItem,
  type SessionEntry,
  type SessionOptions,
  type StepSession,
  toContextParts,
  type Unextracted,
} from './memory/session.ts';
export { busOptions } from './service/bus-options.ts';
export { connectServiceBus, openServiceDatabase } from './service/connections.ts';
export {
  type RunningService,
  runService,
  type ServiceContext,
  type ServiceDefinition,
  STOP_MARGIN_MS,
} from './service/run-service.ts';
export { readingWorkerConfig, runReadingWorkerService, runWorkerService } from './service/run-worker-service.ts';
export { parseTraceparent } from './tracing/trace-context.ts';
export { PASSING_TRACER, type Span, type Tracer } from './tracing/tracer.ts';
export type { StepModel } from './worker/step-model.ts';
export { startWorker, type Worker, type WorkerOptions } from './worker/worker.ts';
