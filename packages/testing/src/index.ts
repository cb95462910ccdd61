export { startTestBroker, type TestBroker } from './broker.ts';
export { createTestDatabase, ROLE_PASSWORD, type TestDatabase } from './database.ts';
export { json, type ModelReply, refused } from './models/model-reply.ts';
export type { ModelRequestSeen } from './models/model-request.ts';
export { type ModelScript, type ModelServer, startModelServer } from './models/model-server.ts';
export {
  type Links,
  type Platform,
  type PlatformOptions,
  SERVICE_NAMES,
  type ServiceName,
  startPlatform,
  testApiKey,
} from './platform.ts';
export { type ConfluencePage, startConfluenceStandIn } from './stand-ins/confluence.ts';
export { type QdrantPoint, startQdrantStandIn } from './stand-ins/qdrant.ts';
export { STAND_IN_FAULTS, type StandIn, type StandInFault, startStandIn } from './stand-ins/stand-in.ts';
export { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
export { type WaitOptions, waitFor } from './wait-for.ts';
