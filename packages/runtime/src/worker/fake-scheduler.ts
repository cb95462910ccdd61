import { createHash } from 'node:crypto';
import { type Bus, Publisher, PullLoop, type Served, serve, serveEndpoint } from '@cleanslate/bus';
import {
  AppError,
  type AttemptRef,
  type ClaimAnswer,
  ClaimReply,
  ClaimRequest,
  ClaimWithReport,
  type DataOf,
  DeadLettered,
  decodeMessage,
  type Envelope,
  encodeMessage,
  type Fence,
  Heartbeat,
  HeartbeatReply,
  ObjectGet,
  ObjectPut,
  SessionRead,
  SessionWrite,
  StepReport,
  StepRun,
  subjects,
  toAttemptHeaders,
} from '@cleanslate/contracts';

import { memorySessions } from '../memory/memory-sessions.ts';

const NEVER = new AbortController().signal;

type Report = { readonly envelope: Envelope<StepReport>; readonly data: StepReport };

/**
 * Tests only: a peer on a real broker that answers claims and heartbeats by a script and collects what workers send. By
 * default it grants the first claim of an attempt and every repetition of it, and settles each report it received.
 */
export class FakeScheduler implements AsyncDisposable {
  readonly claims: Fence[] = [];
  /** Handed in with their claims. */
  readonly finished: ClaimWithReport['finished'][number][] = [];
  /** False: behaves like a scheduler of an earlier version. */
  takesFinished = true;
  readonly heartbeats: Heartbeat[] = [];
  readonly reports: Report[] = [];
  readonly letters: DataOf<typeof DeadLettered>[] = [];
  readonly objects = new Map<string, Uint8Array>();
  readonly sessions = memorySessions();
  leaseMs = 3_000;
  remainingMs = 60_000;
  settles = true;
  /** The answer to a claim; `silence` answers nothing at all. */
  answer: (fence: Fence) => ClaimAnswer['answer'] | 'silence' = (fence) => this.#grantFirst(fence);
  onHeartbeat: (heartbeat: Heartbeat) => Partial<HeartbeatReply> = () => ({});
  readonly #publisher: Publisher;
  readonly #winners = new Map<string, string>();
  readonly #served: Served[];
  readonly #loops: PullLoop[];
  /** Streams deduplicate across the tests that share a broker. */
  readonly #run = crypto.randomUUID().slice(0, 8);
  #n = 0;

  constructor(bus: Bus) {
    this.#publisher = new Publisher(bus);
    this.#served = [
      serve(bus, 'claim.*', 'scheduler', ({ body }) => this.#answerClaims(body)),
      serve(bus, 'hb.*', 'scheduler', ({ body }) => this.#answerHeartbeat(body)),
      serveEndpoint(bus, ObjectGet, 'test', async ({ data }) => this.#getObject(data.sha256)),
      serveEndpoint(bus, ObjectPut, 'test', async ({ data }) => this.#putObject(data.base64)),
      serveEndpoint(bus, SessionRead, 'test', ({ data }) => this.sessions.read(data, NEVER)),
      serveEndpoint(bus, SessionWrite, 'test', ({ data }) => this.sessions.write(data, NEVER)),
    ];
    this.#loops = [
      new PullLoop(bus, {
        stream: 'REPORTS',
        durable: 'scheduler-reports',
        slots: 500,
        onMessage: (message) => {
          const { envelope } = decodeMessage([StepReport], message.data);
          this.reports.push({ envelope, data: envelope.data });
          message.ack();
        },
      }),
      new PullLoop(bus, {
        stream: 'DLQ',
        durable: 'scheduler-dlq',
        slots: 10,
        onMessage: (message) => {
          this.letters.push(decodeMessage([DeadLettered], message.data).envelope.data);
          message.ack();
        },
      }),
    ];
    for (const loop of this.#loops) loop.start();
  }

  attempt(overrides: Partial<AttemptRef> = {}): AttemptRef {
    this.#n++;
    return {
      epoch: 1,
      tenantId: 'acme',
      taskId: `task-${this.#run}-${this.#n}`,
      stepId: 'step',
      attempt: 1,
      ...overrides,
    };
  }

  /** Rings for an attempt; `body` replaces the command. */
  async ring(
    role: string,
    attempt: AttemptRef,
    command: Partial<StepRun> & { readonly body?: Uint8Array; readonly ring?: number } = {},
  ): Promise<void> {
    const { body, ring = 1, ...data } = command;
    const { tenantId, taskId, stepId } = attempt;
    const attributes = { id: `cmd-${taskId}-${ring}`, source: '/test', time: new Date().toISOString() };
    const run = encodeMessage(
      StepRun,
      { ...attributes, tenantid: tenantId, taskid: taskId, stepid: stepId },
      {
        workflow: 'test',
        executor: 'test/step',
        input: {},
        round: 1,
        idempotencyKey: `${taskId}/${stepId}`,
        pin: { validAt: '2026-01-01T00:00:00.000Z', revision: 1 },
        ...data,
      },
    );
    await this.#publisher.publish({
      stream: 'COMMANDS',
      subject: subjects.work(role, tenantId, taskId),
      body: body ?? run,
      messageId: `${JSON.stringify(attempt)}:${ring}:${this.#n}`,
      headers: toAttemptHeaders(attempt, ring),
    });
  }

  /** Publishes bytes with whatever headers: what no scheduler would send. */
  async publishRaw(subject: string, body: Uint8Array, headers: Record<string, string> = {}): Promise<void> {
    await this.#publisher.publish({ stream: 'COMMANDS', subject, body, messageId: crypto.randomUUID(), headers });
  }

  reportsOf(taskId: string): StepReport[] {
    return this.reports.filter(({ envelope }) => envelope.taskid === taskId).map(({ data }) => data);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#loops.map((loop) => loop.drain()), ...this.#served.map((served) => served.stop())]);
    this.#publisher.close();
  }

  #grantFirst(fence: Fence): ClaimAnswer['answer'] {
    const key = `${fence.taskId}/${fence.stepId}/${fence.attempt}`;
    const winner = this.#winners.get(key) ?? fence.claimId;
    this.#winners.set(key, winner);
    return winner === fence.claimId ? 'granted' : 'lost';
  }

  #answerClaims(body: Uint8Array): Promise<Uint8Array> | Uint8Array {
    const known: readonly (typeof ClaimRequest | typeof ClaimWithReport)[] = this.takesFinished
      ? [ClaimRequest, ClaimWithReport]
      : [ClaimRequest];
    const { data } = decodeMessage(known, body).envelope;
    const asked = 'finished' in data ? data.finished.map(({ fence }) => fence) : data.claims;
    if ('finished' in data) this.finished.push(...data.finished);
    else this.claims.push(...asked);
    const answers = asked.flatMap((fence) => {
      const answer = this.answer(fence);
      if (answer === 'silence') return [];
      const { claimId, ...attempt } = fence;
      return [{ attempt, claimId, answer, leaseMs: this.leaseMs, remainingMs: this.remainingMs }];
    });
    if (answers.length === 0) return new Promise(() => undefined);
    return encodeMessage(ClaimReply, this.#envelope(), { answers });
  }

  #answerHeartbeat(body: Uint8Array): Uint8Array {
    const heartbeat = decodeMessage([Heartbeat], body).envelope.data;
    this.heartbeats.push(heartbeat);
    const seen = new Set(this.reports.map(({ envelope }) => envelope.claimid));
    const settled = this.settles ? heartbeat.reported.filter(({ claimId }) => seen.has(claimId)) : [];
    return encodeMessage(HeartbeatReply, this.#envelope(), {
      leaseMs: this.leaseMs,
      lost: [],
      cancelled: [],
      settled: settled.map(toClaimRef),
      ...this.onHeartbeat(heartbeat),
    });
  }

  #getObject(sha256: string): { sha256: string; base64: string } {
    const bytes = this.objects.get(sha256);
    if (bytes === undefined) throw new AppError('NOT_FOUND', `no object ${sha256}`);
    return { sha256, base64: Buffer.from(bytes).toString('base64') };
  }

  #putObject(base64: string): { sha256: string; bytes: number } {
    const bytes = Buffer.from(base64, 'base64');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.objects.set(sha256, bytes);
    return { sha256, bytes: bytes.length };
  }

  #envelope() {
    return { id: crypto.randomUUID(), source: '/test', time: new Date().toISOString(), tenantid: 'system' };
  }
}

export function toClaimRef({ taskId, stepId, attempt, claimId }: Fence) {
  return { taskId, stepId, attempt, claimId };
}
