import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsServer, PostgresServer, Service } from '@cleanslate/infra';
import { type Links, type Platform, type TcpProxy, waitFor } from '@cleanslate/testing';
import type { Fleet } from './fleet.ts';
import { dealFrom, type Pick } from './random.ts';

/** Breaks something, proves that it is broken, and sees to it that somebody can go on. */
export type Fault = { readonly kind: string; readonly strike: (pick: Pick) => Promise<void> };

export type Target = {
  readonly fleet: Fleet;
  readonly broker: NatsServer;
  readonly postgres: PostgresServer;
  readonly links: Links;
  readonly sql: Platform['database']['sql'];
  /** Milliseconds. */
  readonly goneMs: number;
};

/** Longer than a lease of these tests: whoever wakes finds its work given to others. */
const FROZEN_MS = 3_000;

/** Struck side by side, one of each lane at a time, so that a process meets what another fault has broken. */
export function lanesOf(target: Target): readonly (readonly Fault[])[] {
  return [processFaults(target), brokerFaults(target), databaseFaults(target)];
}

function processFaults({ fleet }: Target): readonly Fault[] {
  const kill = (name: Parameters<Fleet['pick']>[0]): Fault => ({
    kind: `kill -9 ${name}`,
    strike: (pick) => fleet.replace(fleet.pick(name, pick, true)),
  });
  const freeze = (name: Parameters<Fleet['pick']>[0]): Fault => ({
    kind: `freeze ${name}`,
    strike: (pick) => freezeService(fleet.pick(name, pick)),
  });
  return [
    kill('analyzer'),
    kill('analyzer'),
    kill('scheduler'),
    kill('scheduler'),
    kill('knowledge-maintainer'),
    kill('gateway'),
    freeze('analyzer'),
    freeze('scheduler'),
    freeze('knowledge-maintainer'),
  ];
}

function brokerFaults({ broker, links, goneMs }: Target): readonly Fault[] {
  const crash = async (awayMs: number) => {
    await broker.kill();
    await expectSilence(broker.monitorUrl);
    await sleep(awayMs);
    await broker.restart();
  };
  const killed = { kind: 'broker killed and restarted', strike: () => crash(0) };
  const restarted = { kind: 'broker restarted', strike: () => restart(broker) };
  return [
    killed,
    killed,
    restarted,
    restarted,
    { kind: `broker gone ${goneMs / 1_000} s`, strike: () => crash(goneMs) },
    { kind: 'broker frozen', strike: () => freezeServer(broker, () => expectSilence(broker.monitorUrl)) },
    ...cuts('broker', links.broker),
  ];
}

function databaseFaults({ postgres, links, sql }: Target): readonly Fault[] {
  const isAway = async () => {
    await waitFor('silence of the database', async () => {
      const answer = await Promise.race([sql('SELECT 1').catch(() => 'away'), sleep(500, 'away')]);
      return answer === 'away';
    });
  };
  return [
    { kind: 'database restarted', strike: () => restart(postgres) },
    {
      kind: 'database killed and restarted',
      strike: async (pick) => {
        await postgres.kill();
        await isAway();
        await sleep(pick(2_000));
        await postgres.restart();
      },
    },
    { kind: 'database frozen', strike: () => freezeServer(postgres, isAway) },
    ...cuts('database', links.database),
  ];
}

/** Twice in a lane: it takes no time. */
function cuts(what: string, link: TcpProxy): readonly Fault[] {
  const strike = async () => {
    await waitFor(`connections to the ${what} to cut`, () => link.cut() > 0, { timeoutMs: 30_000 });
  };
  const fault = { kind: `${what} connections cut`, strike };
  return [fault, fault];
}

async function restart(server: NatsServer | PostgresServer): Promise<void> {
  const { pid } = server;
  await server.restart();
  if (server.pid === pid) throw new Error('it is the same process');
}

async function freezeServer(server: NatsServer | PostgresServer, prove: () => Promise<void>): Promise<void> {
  await server.suspend();
  try {
    await prove();
    await sleep(FROZEN_MS);
  } finally {
    await server.resume();
  }
}

async function freezeService(service: Service): Promise<void> {
  service.suspend();
  try {
    await expectSilence(service.healthUrl ?? '');
    await sleep(FROZEN_MS);
  } finally {
    service.resume();
  }
}

/** A stop reaches a process's threads one after the other: on a busy machine one of them may still answer once. */
async function expectSilence(url: string): Promise<void> {
  await waitFor(`silence of ${url}`, async () => {
    const answer = fetch(`${url}/healthz`, { signal: AbortSignal.timeout(500) });
    return answer.then(
      () => false,
      () => true,
    );
  });
}

/** Strikes with one lane's faults until the time is over; `onStrike` hears of each that proved itself. */
export async function strike(
  faults: readonly Fault[],
  pick: Pick,
  untilMs: number,
  pauseMs: number,
  onStrike: (kind: string) => void,
): Promise<void> {
  for (const fault of dealFrom(faults, pick)) {
    if (performance.now() >= untilMs) return;
    await fault.strike(pick);
    onStrike(fault.kind);
    await sleep(pick(pauseMs));
  }
}
