/**
 * The server settings as `-c` arguments; `durable: false` trades safety after a power cut for the speed of a test run.
 */
export function postgresArguments(input: {
  port: number;
  dataFolder: string;
  host: string;
  durable: boolean;
}): string[] {
  const settings: Record<string, string | number> = {
    listen_addresses: input.host,
    port: input.port,
    unix_socket_directories: '',
    shared_preload_libraries: 'timescaledb',
    'timescaledb.telemetry_level': 'off',
    // The Apache edition everywhere, so that no feature depends on the machine's package.
    'timescaledb.license': 'apache',
    max_connections: 300,
    // A hypertable locks every chunk it touches.
    max_locks_per_transaction: 256,
    max_worker_processes: 24,
    // In files: a root filesystem has no shared-memory mount, and System V segments would survive SIGKILL.
    dynamic_shared_memory_type: 'mmap',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] %u@%d ',
  };
  const hasty = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_wal_size: '4GB',
    // Each database with the extension would get a scheduler, whose session keeps a template from being copied.
    'timescaledb.max_background_workers': 0,
  };
  const lasting = {
    // The default of 128 MB is for a server that shares its machine with much else: a backend that finds no clean page
    // writes one itself (measured: a fortieth of all CPU at full load).
    shared_buffers: '512MB',
  };
  const all = { ...settings, ...(input.durable ? lasting : hasty) };
  return ['-D', input.dataFolder, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
