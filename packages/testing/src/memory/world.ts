import type { Faults, MessageName, PortCall } from './faults.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Thrown through a process that dies; nothing of it goes on. */
const CRASH = Symbol('crash');
const LATENCY_MS = 1;

/** What the processes have in common: the clock, the network, the faults, and the record of what happened. */
export class World {
  readonly clock: VirtualClock;
  readonly #faults: Faults;
  readonly #counts = new Map<string, number>();
  readonly portCalls: PortCall[] = [];
  readonly struck: string[] = [];
  readonly story: string[] = [];
  readonly #startedAt: number;

  constructor(clock: VirtualClock, faults: Faults) {
    this.clock = clock;
    this.#faults = faults;
    this.#startedAt = clock.now();
  }

  get elapsedMs(): number {
    return this.clock.now() - this.#startedAt;
  }

  tell(what: string): void {
    this.story.push(`${String(this.elapsedMs).padStart(8)} ms  ${what}`);
  }

  strike(what: string): void {
    this.struck.push(what);
    this.tell(`!! ${what}`);
  }

  executorFault(stepId: string, attempt: number) {
    const fault = this.#faults.executor(stepId, attempt);
    if (fault !== undefined) this.strike(`executor of ${stepId}/${attempt}: ${describe(fault)}`);
    return fault;
  }

  /**
   * Sends a message. `arrive` runs once, twice, later or never; returns what the sender knows: false where it was not
   * stored. `lost`: it is told so, but nothing will arrive.
   */
  send(name: MessageName, arrive: () => void): 'sent' | 'lost' | 'dropped' {
    const fault = this.#faults.message(name, this.#count(name));
    if (fault !== undefined) this.strike(`${name}: ${describe(fault)}`);
    if (fault === 'drop') return 'dropped';
    if (fault === 'lose') return 'lost';
    this.clock.after(typeof fault === 'object' ? fault.delayMs : LATENCY_MS, arrive);
    if (fault === 'duplicate') this.clock.after(2 * LATENCY_MS, arrive);
    return 'sent';
  }

  /** A call to the outside, before and after which the process may die. */
  call<T>(process: PortCall['process'], call: PortCall['call'], work: () => T): T {
    const nth = this.#count(`${process} ${call}`);
    this.#mayCrash({ process, call, nth, when: 'before' });
    const result = work();
    this.#mayCrash({ process, call, nth, when: 'after' });
    return result;
  }

  #mayCrash(port: PortCall): void {
    this.portCalls.push(port);
    if (!this.#faults.crash(port)) return;
    this.strike(`${port.process} dies ${port.when} "${port.call}" (${port.nth})`);
    throw CRASH;
  }

  #count(what: string): number {
    const n = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, n);
    return n;
  }
}

function describe(fault: string | object): string {
  return typeof fault === 'string' ? fault : JSON.stringify(fault).replace(/[{}"]/g, '');
}

/** A process: it lives, may die in any call to the outside, and comes back with nothing but what others kept. */
export abstract class Process {
  protected readonly world: World;
  readonly #restartMs: number;
  #life = 1;
  #alive = true;
  #frozenUntil = 0;
  #diedAt = 0;

  constructor(world: World, restartMs: number) {
    this.world = world;
    this.#restartMs = restartMs;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Grows with every start. */
  protected get life(): number {
    return this.#life;
  }

  /** A function that does its work as long as this life of the process lasts, and not while it stands still. */
  protected bound<A extends readonly unknown[]>(work: (...args: A) => void): (...args: A) => void {
    const life = this.#life;
    const go = (...args: A): void => {
      if (!this.#alive || this.#life !== life) return;
      const frozenMs = this.#frozenUntil - this.world.clock.now();
      if (frozenMs > 0) {
        this.world.clock.after(frozenMs, () => go(...args));
        return;
      }
      try {
        work(...args);
      } catch (error) {
        if (error !== CRASH) throw error;
        this.#die();
      }
    };
    return go;
  }

  protected freeze(ms: number): void {
    this.#frozenUntil = this.world.clock.now() + ms;
  }

  #die(): void {
    this.#alive = false;
    this.#diedAt = this.world.clock.now();
    this.onDeath();
    this.world.clock.after(this.#restartMs, () => {
      this.#alive = true;
      this.#life++;
      this.bound(() => this.onStart(this.world.clock.now() - this.#diedAt))();
    });
  }

  protected abstract onDeath(): void;
  protected abstract onStart(goneMs: number): void;
}
