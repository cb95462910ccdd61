import { type Bus, Publisher, type PulledMessage, PullLoop } from '@cleanslate/bus';
import { decodeMessage, encodeMessage, SubmitRefused, subjects, TaskAccepted, TaskSubmit } from '@cleanslate/contracts';
import type { TestBroker } from '@cleanslate/testing';

export type Script = {
  /** True: this submit is committed, but its answer gets lost. */
  readonly loses: (nth: number) => boolean;
  /** Keys that another body used before. */
  readonly conflicts?: readonly string[];
  /** Task id under which a key is known already. */
  readonly knownAs?: Readonly<Record<string, string>>;
};

/**
 * Stands in for the scheduler where a test must decide which answer gets lost. One task per id, as the ledger has it.
 */
export class ScriptedScheduler implements AsyncDisposable {
  readonly tasks = new Map<string, number>();
  readonly submitIds: string[] = [];
  readonly #bus: Bus;
  readonly #publisher: Publisher;
  readonly #intake: PullLoop;
  readonly #script: Script;
  /** From here on an answer whose PubAck is still on its way may fail: nobody waits for it. */
  #closing = false;

  private constructor(bus: Bus, script: Script) {
    this.#bus = bus;
    this.#script = script;
    this.#publisher = new Publisher(bus);
    this.#intake = new PullLoop(bus, {
      stream: 'INTAKE',
      durable: 'scheduler-intake',
      slots: 10,
      onMessage: (message) =>
        void this.#take(message).catch((error) => {
          if (!this.#closing) throw error;
        }),
    });
    this.#intake.start();
  }

  static async start(broker: TestBroker, script: Script): Promise<ScriptedScheduler> {
    return new ScriptedScheduler(await broker.connect({ kind: 'scheduler' }), script);
  }

  async #take(message: PulledMessage): Promise<void> {
    const { envelope } = decodeMessage([TaskSubmit], message.data);
    const { key, workflow } = envelope.data;
    this.submitIds.push(envelope.id);
    const taskId = (key && this.#script.knownAs?.[key]) ?? envelope.taskid ?? 'none';
    const duplicate = this.tasks.has(taskId);
    this.tasks.set(taskId, (this.tasks.get(taskId) ?? 0) + 1);
    message.ack();
    if (this.#script.loses(this.submitIds.length)) return;
    const attributes = {
      id: crypto.randomUUID(),
      source: '/test',
      time: new Date().toISOString(),
      tenantid: envelope.tenantid,
      taskid: taskId,
      causationid: envelope.id,
    };
    const error = {
      code: 'IDEMPOTENCY_CONFLICT',
      disposition: 'conflict',
      message: 'used with another input',
    } as const;
    const pin = { validAt: '2026-01-01T00:00:00.000Z', revision: 0 };
    const accepted = {
      workflow,
      planHash: 'p',
      pin,
      deadline: '2026-01-01T01:00:00.000Z',
      duplicate,
      state: 'pending',
    } as const;
    const body =
      key && this.#script.conflicts?.includes(key)
        ? encodeMessage(SubmitRefused, attributes, { error })
        : encodeMessage(TaskAccepted, attributes, accepted);
    await this.#publisher.publish({
      stream: 'EVENTS',
      subject: subjects.taskEvent(envelope.tenantid, taskId),
      body,
      messageId: attributes.id,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#intake.drain();
    this.#closing = true;
    this.#publisher.close();
    await this.#bus.close();
  }
}
