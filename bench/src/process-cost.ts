import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second of `/proc/<pid>/stat` on Linux. */
const TICKS_PER_SECOND = 100;

/** A process with all its descendants, as Linux accounts for them. */
export type Cost = { readonly cpuMs: number; readonly rssMb: number };

/** By name, each with all its descendants. Throws on systems without `/proc`. */
export type Pids = Readonly<Record<string, number>>;
export type Costs = Readonly<Record<string, Cost>>;

export function readCosts(pids: Pids): Costs {
  const children = readChildren();
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, readTree(pid, children)]));
}

/** CPU milliseconds of each, and of all, per task. */
export function spentBetween(before: Costs, after: Costs, tasks: number): Readonly<Record<string, number>> {
  const each = Object.entries(after).map(
    ([name, cost]) => [name, (cost.cpuMs - (before[name]?.cpuMs ?? 0)) / tasks] as const,
  );
  return { total: each.reduce((sum, [, ms]) => sum + ms, 0), ...Object.fromEntries(each) };
}

/** Looks at the memory of processes until it is stopped; returns the highest of each, in MB. */
export function watchMemory(pids: Pids, everyMs = 500): () => Readonly<Record<string, number>> {
  const highest: Record<string, number> = {};
  const look = () => {
    for (const [name, { rssMb }] of Object.entries(readCosts(pids)))
      highest[name] = Math.max(highest[name] ?? 0, rssMb);
  };
  look();
  const timer = setInterval(look, everyMs);
  return () => {
    clearInterval(timer);
    look();
    return highest;
  };
}

function readTree(rootPid: number, children: ReadonlyMap<number, readonly number[]>): Cost {
  let cpuMs = 0;
  let ownMb = 0;
  let sharedMb = 0;
  const visit = (pid: number): void => {
    const one = readOne(pid);
    cpuMs += one.cpuMs;
    ownMb += one.ownMb;
    sharedMb = Math.max(sharedMb, one.sharedMb);
    for (const child of children.get(pid) ?? []) visit(child);
  };
  visit(rootPid);
  // The processes of one server share their program and buffers: those count once.
  return { cpuMs, rssMb: ownMb + sharedMb };
}

function readOne(pid: number): { readonly cpuMs: number; readonly ownMb: number; readonly sharedMb: number } {
  try {
    const fields = statFields(pid);
    const ticks = [11, 12, 13, 14].map((i) => Number(fields[i] ?? 0)).reduce((sum, value) => sum + value, 0);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
    const cpuMs = (ticks * 1000) / TICKS_PER_SECOND;
    return { cpuMs, ownMb: mb('RssAnon'), sharedMb: mb('RssFile') + mb('RssShmem') };
  } catch {
    return { cpuMs: 0, ownMb: 0, sharedMb: 0 };
  }
}

function readChildren(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      const parent = Number(statFields(pid)[1]);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {
      // It ended between the two looks.
    }
  }
  return children;
}

/**
 * Fields behind the name in parentheses, from the state on: [0] state, [1] parent, [11]–[14] own and children's ticks.
 */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
