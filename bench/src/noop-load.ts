import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Publication, Publisher } from '@cleanslate/bus';
import type { Client } from '@cleanslate/client';
import { encodeMessage, isAppError, subjects, TaskSubmit } from '@cleanslate/contracts';

const DEADLINE_MS = 240_000;
/** Shorter than what a client is told to wait: the load must not run dry. */
const FULL_PAUSE_MS = 50;
/** Submits on their way at once. */
const WINDOW = 200;
/**
 * Tasks that a flood keeps unfinished: as many as the platform takes in before it refuses more, since a refusal costs
 * the broker what a submit does.
 */
const MAX_UNFINISHED = 1_000;
/** Between two bursts of a steady load. Milliseconds. */
const BURST_MS = 10;

/** Submits tasks that do nothing and waits for their completed events, as an outside observer sees them. */
export class NoopLoad {
  readonly #client: Client;
  readonly #publisher: Publisher;
  /** Task id → when it was submitted. */
  readonly #waiting = new Map<string, number>();
  #latencies: number[] = [];
  #onDone: (error?: Error) => void = () => undefined;
  /** Senders that wait until a task is done. */
  readonly #held: (() => void)[] = [];
  #submitting = false;
  /** While the tenant's queue is full, as a small disk makes it sooner: one pause for all. */
  #full: Promise<void> | undefined;

  constructor(client: Client) {
    this.#client = client;
    this.#publisher = new Publisher(client.bus, { window: WINDOW });
    client.bus.subscribe(subjects.taskEvent(client.tenant, 'x').replace(/x$/, '*'), ({ subject, data }) =>
      this.#see(subject, Buffer.from(data.buffer, data.byteOffset, data.byteLength)),
    );
  }

  /**
   * As fast as the platform takes them, always with more waiting than it has in work. Throws when a task fails, is
   * refused, or does not end in four minutes.
   */
  async flood(workflow: string, tasks: number): Promise<{ readonly seconds: number }> {
    const startedAt = performance.now();
    let left = tasks;
    const send = async () => {
      while (left-- > 0) {
        if (this.#waiting.size >= MAX_UNFINISHED) await new Promise<void>((resolve) => this.#held.push(resolve));
        await this.#submit(workflow);
      }
    };
    await this.#run(async () => {
      await Promise.all(Array.from({ length: WINDOW }, send));
    });
    return { seconds: (performance.now() - startedAt) / 1_000 };
  }

  /** One behind the other. Returns the latency of each in milliseconds. */
  async oneByOne(workflow: string, tasks: number): Promise<readonly number[]> {
    const latencies: number[] = [];
    for (let i = 0; i < tasks; i++) latencies.push(...(await this.#run(() => this.#submit(workflow))));
    return latencies;
  }

  /** So many a second, whether they are done or not. Returns the latency of each in milliseconds. */
  async steadily(workflow: string, perSecond: number, seconds: number): Promise<readonly number[]> {
    return await this.#run(async () => {
      const startedAt = performance.now();
      const submits: Promise<void>[] = [];
      while (submits.length < perSecond * seconds) {
        const due = Math.min(perSecond * seconds, ((performance.now() - startedAt) / 1_000) * perSecond);
        while (submits.length < due) submits.push(this.#submit(workflow));
        await sleep(BURST_MS);
      }
      await Promise.all(submits);
    });
  }

  async #run(submit: () => Promise<void>): Promise<readonly number[]> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => reject(new Error(`${this.#waiting.size} tasks not completed in ${DEADLINE_MS} ms`)),
      DEADLINE_MS,
    );
    this.#onDone = (error) => (error === undefined ? resolve() : reject(error));
    this.#latencies = [];
    try {
      this.#submitting = true;
      await Promise.race([submit(), promise]);
      this.#submitting = false;
      if (this.#waiting.size > 0) await promise;
    } finally {
      clearTimeout(timer);
    }
    return this.#latencies;
  }

  async #submit(workflow: string): Promise<void> {
    const { tenant } = this.#client;
    const taskId = randomUUID();
    this.#waiting.set(taskId, performance.now());
    const attributes = {
      id: randomUUID(),
      source: '/bench',
      time: new Date().toISOString(),
      tenantid: tenant,
      taskid: taskId,
    };
    const body = encodeMessage(TaskSubmit, attributes, { workflow, input: {} });
    await this.#send({ stream: 'INTAKE', subject: subjects.submit(tenant), messageId: attributes.id, body });
  }

  /** A tenant may queue so many submits; what is beyond waits here. */
  async #send(publication: Publication): Promise<void> {
    for (;;) {
      await this.#full;
      try {
        await this.#publisher.publish(publication);
        return;
      } catch (error) {
        if (!isAppError(error) || error.code !== 'TENANT_QUEUE_FULL') throw error;
        this.#full ??= sleep(FULL_PAUSE_MS).then(() => {
          this.#full = undefined;
        });
      }
    }
  }

  /**
   * Nine in ten events are none of its business: they are told by their bytes, since it runs
   * on the cores that it measures.
   */
  #see(subject: string, bytes: Buffer): void {
    if (bytes.includes('"to":"failed"') || bytes.includes('submit.refused'))
      this.#onDone(new Error(`a task that does nothing failed: ${bytes.toString()}`));
    if (!bytes.includes('"task.transitioned.v') || !bytes.includes('"to":"completed"')) return;
    const taskId = subject.slice(subject.lastIndexOf('.') + 1);
    const submittedAt = this.#waiting.get(taskId);
    if (submittedAt === undefined) return;
    this.#waiting.delete(taskId);
    this.#latencies.push(performance.now() - submittedAt);
    this.#held.shift()?.();
    if (this.#waiting.size === 0 && !this.#submitting) this.#onDone();
  }
}
