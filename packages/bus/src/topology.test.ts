import { STREAMS, subjectsOverlap } from '@cleanslate/contracts';
import { startNatsServer } from '@cleanslate/infra';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { applyTopology, diffTopology } from './apply-topology.ts';
import { startTestBroker, TEST_ROLES, type TestBroker } from './test-broker.ts';
import { topologyFor } from './topology.ts';
import { lintTopology } from './topology-lint.ts';

type Server = Awaited<ReturnType<typeof startNatsServer>>;
const options = { roles: TEST_ROLES };

describe('against a broker', () => {
  let broker: TestBroker<Server>;
  beforeEach(async () => {
    broker = await startTestBroker(startNatsServer, { topology: false });
  });
  afterEach(() => broker[Symbol.asyncDispose]());
  const manager = () => jetstreamManager(broker.admin.raw, { checkAPI: false, timeout: 30_000 });

  test('is made once, also by two at once, and repeating changes nothing', async () => {
    // Beside a durable for each role: those of scheduler and maintainer.
    expect((await diffTopology(broker.admin, options)).length).toBe(STREAMS.length + TEST_ROLES.length + 6);
    await Promise.all([applyTopology(broker.admin, options), applyTopology(broker.admin, options)]);
    expect(await diffTopology(broker.admin, options)).toEqual([]);
    expect(await applyTopology(broker.admin, options)).toMatchObject({ created: [], updated: [] });
  });

  test('byte limits are halved together until the server has room', async () => {
    // The launcher gives the server 8 GiB; the table asks for 32.
    expect((await applyTopology(broker.admin, options)).sizeFactor).toBe(0.25);
    const jsm = await manager();
    for (const spec of STREAMS) expect((await jsm.streams.info(spec.name)).config.max_bytes).toBe(spec.maxBytes / 4);
    // What one tenant can queue shrinks with them: the largest messages that it may send leave a quarter
    // of the stream to the others.
    const { max_msgs_per_subject, max_msg_size, max_bytes } = (await jsm.streams.info('INTAKE')).config;
    expect(max_msgs_per_subject).toBe(250);
    expect(max_msgs_per_subject * max_msg_size).toBeLessThanOrEqual((3 / 4) * max_bytes);
    expect(await diffTopology(broker.admin, options)).toEqual([]);
    await jsm.streams.update('INTAKE', { max_msgs_per_subject: 1_000 });
    expect(await diffTopology(broker.admin, options)).toMatchObject([
      { what: 'stream INTAKE', field: 'max_msgs_per_subject', expected: 250, found: 1_000 },
    ]);
  });

  test('a stream that drops its oldest and drifted durables are named field by field and repaired', async () => {
    await applyTopology(broker.admin, options);
    const jsm = await manager();
    await jsm.streams.update('COMMANDS', { discard: 'old', max_msgs: 7, duplicate_window: 1_000_000_000 });
    await jsm.streams.update('INTAKE', { discard_new_per_subject: false });
    await jsm.consumers.update('REPORTS', 'scheduler-reports', { ack_wait: 1_000_000_000, max_deliver: 3 });
    const differences = await diffTopology(broker.admin, options);
    expect(differences.map(({ what, field }) => `${what} ${field}`)).toEqual([
      'stream INTAKE discard_new_per_subject',
      'stream COMMANDS discard',
      'stream COMMANDS max_msgs',
      'stream COMMANDS duplicate_window',
      'durable REPORTS/scheduler-reports ack_wait',
      'durable REPORTS/scheduler-reports max_deliver',
    ]);
    const { updated } = await applyTopology(broker.admin, options);
    expect(updated).toEqual(['stream INTAKE', 'stream COMMANDS', 'durable REPORTS/scheduler-reports']);
    expect(await diffTopology(broker.admin, options)).toEqual([]);
  });

  test('what can not be changed in place is refused with the field, before anything is changed', async () => {
    const jsm = await manager();
    await jsm.streams.add({ name: 'COMMANDS', subjects: ['cmd.work.*.*.*', 'cmd.knowledge.*'], storage: 'memory' });
    const applied = applyTopology(broker.admin, options);
    await expect(applied).rejects.toMatchObject({ code: 'CONFIGURATION' });
    await expect(applied).rejects.toThrow(/stream COMMANDS: retention is "limits".*storage is "memory"/);
    expect((await jsm.streams.names().next()).length).toBe(1);
  });
});

describe('lint', () => {
  test('finds nothing in the catalogue', () => {
    expect(lintTopology(topologyFor(TEST_ROLES))).toEqual([]);
  });

  test.each(['>', '*.*', '*.>', '$JS.API.>', '_INBOX.>'])('refuses a stream on %s', (subject) => {
    const [first, ...rest] = STREAMS;
    if (first === undefined) throw new Error('no streams');
    const faults = lintTopology({ streams: [{ ...first, subjects: [subject] }, ...rest], consumers: [] });
    expect(faults.length).toBeGreaterThan(0);
  });

  test('refuses dead letters that re-enter their stream, and durables that overlap on a work queue', () => {
    const { streams, consumers } = topologyFor(TEST_ROLES);
    const reentrant = streams.map((spec) => (spec.name === 'DLQ' ? { ...spec, subjects: ['rpt.dlq.*.*'] } : spec));
    expect(lintTopology({ streams: reentrant, consumers: [] })).toEqual([
      'streams REPORTS ("rpt.*.*.*") and DLQ ("rpt.dlq.*.*") capture the same subjects',
    ]);
    const wide = {
      stream: 'COMMANDS',
      durable: 'all-work',
      filter: 'cmd.work.>',
      ackWaitMs: 1,
      owner: 'scheduler',
    } as const;
    const faults = lintTopology({ streams, consumers: [...consumers, wide] });
    expect(faults).toHaveLength(TEST_ROLES.length);
    for (const [index, role] of TEST_ROLES.entries()) {
      expect(faults[index]).toContain(`work-${role}`);
      expect(faults[index]).toContain('all-work');
    }
  });

  test.each([
    ['a.b', 'a.b', true],
    ['a.*', 'a.b', true],
    ['a.>', 'a.b.c', true],
    ['a.*', 'a.b.c', false],
    ['a.b', 'a.c', false],
    ['*.b', 'a.*', true],
    ['a.>', 'a', false],
  ])('%s and %s overlap: %s', (a, b, overlap) => {
    expect(subjectsOverlap(a, b)).toBe(overlap);
    expect(subjectsOverlap(b, a)).toBe(overlap);
  });
});
