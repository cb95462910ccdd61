export type { Exit } from './child.ts';
export { type EmbeddedPostgresOptions, startEmbeddedPostgres } from './embedded-postgres.ts';
export { findFreePort } from './free-port.ts';
export { layOutImage } from './image.ts';
export { LaunchError, LaunchErrorCode } from './launch-error.ts';
export { type NatsServer, type NatsServerOptions, startNatsServer } from './nats-server.ts';
export type { DatabaseLogin, PostgresAdmin } from './postgres-admin.ts';
export { type PostgresOptions, type PostgresServer, startPostgres } from './postgres-server.ts';
export type { ServerControl } from './server-process.ts';
export { SEMI_SPACE_MB, type Service, type ServiceOptions, spawnDetached, startService } from './service.ts';
export {
  checkoutRoot,
  findPinnedNode,
  type NatsChoice,
  type PostgresChoice,
  readToolchain,
  type Toolchain,
} from './toolchain.ts';
