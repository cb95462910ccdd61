// The one way to the broker: nothing else in the platform imports a NATS client.

export {
  type AppliedTopology,
  applyDurable,
  applyTopology,
  diffTopology,
  type TopologyOptions,
} from './apply-topology.ts';
export { type BackoffOptions, backoffMs } from './backoff.ts';
export { Bus, type BusStatus } from './bus.ts';
export { type ConnectBusOptions, connectBus } from './connect-bus.ts';
export { type DeadLetterOptions, deadLetter } from './dead-letter.ts';
export type { ReceivedHeaders } from './headers.ts';
export { refuseLossyStreams } from './lossy-streams.ts';
export { type NatsServerConfigOptions, toNatsServerConfig } from './nats-server-config.ts';
export { awaitNewerReader } from './newer-version.ts';
export type { PubAck } from './pub-ack.ts';
export {
  type Publication,
  Publisher,
  type PublisherOptions,
  type PublisherStats,
  type PublishOptions,
} from './publisher.ts';
export { type PullHealth, PullLoop, type PullLoopOptions } from './pull-loop.ts';
export { type Delivery, MAX_NAK_DELAY_MS, PulledMessage } from './pulled-message.ts';
export { deleteDurable, purgeTenant } from './purge-tenant.ts';
export { type CallOptions, callEndpoint, type RequestOptions, request, requestMany } from './request.ts';
export {
  type EndpointCall,
  type Served,
  type ServedRequest,
  type ServeOptions,
  serve,
  serveEndpoint,
} from './serve.ts';
export type { BusSubscription, SubscribeOptions } from './subscription.ts';
export { type Difference, type Topology, topologyFor } from './topology.ts';
export { lintTopology } from './topology-lint.ts';
export { findWriteFault } from './write-fault.ts';
