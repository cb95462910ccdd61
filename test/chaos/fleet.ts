import type { Service } from '@cleanslate/infra';
import { LaunchError } from '@cleanslate/infra';
import type { ServiceName } from '@cleanslate/testing';
import type { ScriptedPlatform } from '../fixtures/scripted-platform.ts';
import type { Pick } from './random.ts';

/** As an operator would run them: no role hangs on one process. */
export const FLEET = ['scheduler', 'gateway', 'knowledge-maintainer', 'analyzer'] as const satisfies ServiceName[];
export type Member = (typeof FLEET)[number];
const REPLICAS: Readonly<Record<Member, number>> = {
  scheduler: 2,
  gateway: 2,
  'knowledge-maintainer': 2,
  analyzer: 3,
};

/**
 * The processes, and the supervisor that every deployment has: whoever was killed gets a successor. The first of each
 * kind is never killed, so that its memory can be looked at over the whole run.
 */
export class Fleet {
  readonly #p: ScriptedPlatform;
  readonly #elders = new Set<Service>();
  readonly #victims = new Set<Service>();
  #over = false;
  /** Who ended without being killed, and how: nobody should. */
  readonly deserters: string[] = [];

  constructor(p: ScriptedPlatform) {
    this.#p = p;
  }

  async start(): Promise<void> {
    const start = async (name: Member) => {
      this.#elders.add(await this.#launch(name));
      await Promise.all(Array.from({ length: REPLICAS[name] - 1 }, () => this.#launch(name)));
    };
    await Promise.all(FLEET.map(start));
  }

  running(): readonly Service[] {
    return this.#p.platform.services.filter((service) => service.exit === undefined);
  }

  /** One that may be frozen; `mortal`: or killed. */
  pick(name: Member, pick: Pick, mortal = false): Service {
    const alive = this.running().filter((service) => service.name === name && !(mortal && this.#elders.has(service)));
    const chosen = alive[pick(alive.length)];
    if (chosen === undefined) throw new Error(`no running ${name}`);
    return chosen;
  }

  /** SIGKILL and a successor; returns once that is ready. */
  async replace(victim: Service): Promise<void> {
    this.#victims.add(victim);
    await victim.kill('SIGKILL');
    if (victim.exit?.signal !== 'SIGKILL')
      throw new Error(`${victim.name} did not die: ${JSON.stringify(victim.exit)}`);
    await this.#launch(victim.name as Member);
  }

  /** From here on processes may end. */
  retire(): void {
    this.#over = true;
  }

  /** A start meets outages too; then it is tried again, as any supervisor does. */
  async #launch(name: Member): Promise<Service> {
    for (;;) {
      try {
        const service = await (name === 'analyzer' ? this.#p.startWorker() : this.#p.platform.start(name));
        void service.exited.then(() => this.#onExit(service));
        return service;
      } catch (error) {
        if (!(error instanceof LaunchError) || this.#over) throw error;
      }
    }
  }

  #onExit(service: Service): void {
    if (this.#over || this.#victims.has(service)) return;
    this.deserters.push(`${service.name} ${JSON.stringify(service.exit)}\n${service.lastLines(15).join('\n')}`);
    // Fails only once it is over.
    this.#launch(service.name as Member).catch(() => undefined);
  }
}
