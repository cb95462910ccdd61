import { join } from 'node:path';

export interface NatsConfigInput {
  readonly host: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly storeDir: string;
  readonly extra: string;
}

/** The server's configuration: what the launcher decides, then the caller's accounts and permissions. */
export function renderNatsConfig(input: NatsConfigInput): string {
  return `listen: "${input.host}:${input.port}"
http: "${input.host}:${input.monitorPort}"
server_name: "cleanslate-${input.port}"
# Payloads over 256 KiB go to the object store; the room above that is for its chunks and for headers.
max_payload: 8MB
max_pending: 64MB
# The shortest the server takes.
lame_duck_duration: "30s"
lame_duck_grace_period: "2s"
jetstream {
  store_dir: "${input.storeDir}"
  max_memory_store: 256MB
  max_file_store: 8GB
}
${input.extra}
`;
}

export function configPath(dir: string): string {
  return join(dir, 'nats-server.conf');
}
