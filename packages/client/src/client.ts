import { setTimeout } from 'node:timers/promises';
import { type Bus, connectBus, Publisher } from '@cleanslate/bus';
import {
  CandidateList,
  DeadLetterDiscard,
  DeadLetterList,
  DeadLetterReplay,
  DeadLetterShow,
  type DeadLetterSummary,
  FactAdd,
  FactAsOf,
  FactDisputes,
  FactGet,
  FactHistory,
  FactImpact,
  FactImportSet,
  FactPairs,
  FactRedact,
  FactRedactions,
  FactResolve,
  FactRetract,
  FactRetractSource,
  FactReview,
  FactReviews,
  FactSearch,
  FactUnarchive,
  type FactView,
  type JsonObject,
  KnowledgeLaunder,
  KnowledgeReports,
  type LaunderReport,
  type RequestOf,
  ScheduleDelete,
  ScheduleList,
  SchedulePause,
  SchedulePut,
  ScheduleResume,
  SessionList,
  SessionReset,
  SessionShow,
  TaskApprove,
  TaskCancel,
  TaskEdit,
  TaskFeedback,
  TaskFork,
  TaskGet,
  TaskList,
  TaskReject,
  TaskRetry,
  TaskSteps,
  TaskStory,
  type TaskSummary,
  type TaskView,
  type ValueOf,
} from '@cleanslate/contracts';
import { eachAnswer, type FactAnswer } from './each-answer.ts';
import { eachOf } from './pages.ts';
import { type SubmitOptions, type SubmitRequest, type Submitted, submitTask } from './submit.ts';
import { isTerminal } from './task-event.ts';
import { type WatchItem, type WatchOptions, watchTasks } from './watch.ts';
import { ask, change, changeOnce, isAway, type Wire } from './wire.ts';

export type ClientOptions = {
  /** One NATS URL or several, also comma-separated. */
  readonly servers: string | readonly string[];
  readonly tenant: string;
  /** Default: `tenant-<tenant>`. */
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Names this program in the broker's connection list and in `source`. Default `client`. */
  readonly name?: string | undefined;
  /** Milliseconds, default 5 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long one request waits for its answer. Milliseconds, default 5 s. */
  readonly requestTimeoutMs?: number | undefined;
};

/** `key`: the same key forks the same task once, however often it is asked for. */
export type ForkOptions = Omit<RequestOf<typeof TaskFork>, 'taskId'> & { readonly key?: string };

/** Options of a replay: `force`, `dryRun`, an `edit`, the `batch` it is part of. */
export type ReplayOptions = Omit<RequestOf<typeof DeadLetterReplay>, 'letterId'>;

/** One tenant's access to the platform, over the wire only. */
export type Client = AsyncDisposable & {
  readonly tenant: string;
  readonly bus: Bus;
  submit(request: SubmitRequest, options?: SubmitOptions): Promise<Submitted>;
  /** Waits until the task is completed or failed, through outages of a minute. Aborted: throws the signal's reason. */
  result(taskId: string, options?: Pick<WatchOptions, 'signal' | 'onTrouble'>): Promise<TaskView>;
  watch(options?: WatchOptions): AsyncGenerator<WatchItem>;
  cancel(taskId: string, reason?: string): Promise<ValueOf<typeof TaskCancel>>;
  /** Decides on the exact result that `task` shows at its open gate, named by that gate's hash. */
  approve(taskId: string, sha256: string): Promise<ValueOf<typeof TaskApprove>>;
  reject(taskId: string, sha256: string, reason?: string): Promise<ValueOf<typeof TaskReject>>;
  edit(taskId: string, sha256: string, result: JsonObject): Promise<ValueOf<typeof TaskEdit>>;
  /** Runs a failed task again; finished steps keep their results. */
  retry(taskId: string, options?: Omit<RequestOf<typeof TaskRetry>, 'taskId'>): Promise<ValueOf<typeof TaskRetry>>;
  fork(taskId: string, options?: ForkOptions): Promise<ValueOf<typeof TaskFork>>;
  /** Says whether a task's answer was right; the facts it rests on gain or lose weight. */
  feedback(feedback: RequestOf<typeof TaskFeedback>): Promise<ValueOf<typeof TaskFeedback>>;
  task(taskId: string): Promise<TaskView>;
  /** Its steps, with outputs, place in the plan and every failure. */
  steps(taskId: string): Promise<ValueOf<typeof TaskSteps>>;
  /** Every change of state, refusal and repair. */
  story(taskId: string): Promise<ValueOf<typeof TaskStory>>;
  tasks(query?: RequestOf<typeof TaskList>): Promise<ValueOf<typeof TaskList>>;
  /** All tasks, newest first, page by page; `before` continues after a page's `next`. */
  eachTask(query?: RequestOf<typeof TaskList>): AsyncGenerator<TaskSummary, void, undefined>;
  readonly facts: {
    get(query: RequestOf<typeof FactGet>): Promise<ValueOf<typeof FactGet>>;
    history(
      knowledgeId: string,
      pin?: Omit<RequestOf<typeof FactHistory>, 'knowledgeId'>,
    ): Promise<ValueOf<typeof FactHistory>>;
    asOf(query?: RequestOf<typeof FactAsOf>): Promise<ValueOf<typeof FactAsOf>>;
    /**
     * Every fact in force at the pin, by id, page by page. Without a `revision`, all pages are read at the first one's.
     */
    each(query?: RequestOf<typeof FactAsOf>): AsyncGenerator<FactView, void, undefined>;
    /** What was derived from a fact, or from one version of it, at any depth. */
    impact(knowledgeId: string, version?: number): Promise<ValueOf<typeof FactImpact>>;
    /** Every answer that rests on it, nearest first, page by page: `impact` tells of the first 1,000. */
    eachAnswer(knowledgeId: string, version?: number): AsyncGenerator<FactAnswer, void, undefined>;
    /** The blackboard: what was proposed as knowledge. */
    candidates(query?: RequestOf<typeof CandidateList>): Promise<ValueOf<typeof CandidateList>>;
    /** The best facts for a question; the same pin gives the same hits. */
    search(query: RequestOf<typeof FactSearch>): Promise<ValueOf<typeof FactSearch>>;
    import(set: RequestOf<typeof FactImportSet>): Promise<ValueOf<typeof FactImportSet>>;
    /** States one fact: a new one, or a new version of the one about the same subject and predicate. */
    add(statement: RequestOf<typeof FactAdd>): Promise<ValueOf<typeof FactAdd>>;
    /** Believes a fact again that laundering has archived. */
    unarchive(knowledgeId: string): Promise<ValueOf<typeof FactUnarchive>>;
    retract(request: RequestOf<typeof FactRetract>): Promise<ValueOf<typeof FactRetract>>;
    /** Erases what a fact says, for good, wherever the platform keeps it. `redactions` shows how far that is. */
    redact(request: RequestOf<typeof FactRedact>): Promise<ValueOf<typeof FactRedact>>;
    redactions(query?: RequestOf<typeof FactRedactions>): Promise<ValueOf<typeof FactRedactions>>;
    /** Stops believing everything that one task or document contributed. */
    retractSource(request: RequestOf<typeof FactRetractSource>): Promise<ValueOf<typeof FactRetractSource>>;
    /** Facts behind answers that somebody called wrong. */
    reviews(query?: RequestOf<typeof FactReviews>): Promise<ValueOf<typeof FactReviews>>;
    closeReview(request: RequestOf<typeof FactReview>): Promise<ValueOf<typeof FactReview>>;
    /** What was proposed and what became of it. */
    pairs(query?: RequestOf<typeof FactPairs>): Promise<ValueOf<typeof FactPairs>>;
    disputes(query?: RequestOf<typeof FactDisputes>): Promise<ValueOf<typeof FactDisputes>>;
    resolve(request: RequestOf<typeof FactResolve>): Promise<ValueOf<typeof FactResolve>>;
  };
  readonly knowledge: {
    /**
     * Launders the tenant's knowledge now; `dryRun` previews it. A large base may take a minute; after two minutes this
     * throws `REQUEST_TIMEOUT`, the run goes on, and `reports` shows it.
     */
    launder(options?: RequestOf<typeof KnowledgeLaunder>): Promise<LaunderReport>;
    reports(query?: RequestOf<typeof KnowledgeReports>): Promise<readonly LaunderReport[]>;
  };
  readonly schedules: {
    list(query?: RequestOf<typeof ScheduleList>): Promise<ValueOf<typeof ScheduleList>>;
    put(schedule: RequestOf<typeof SchedulePut>): Promise<ValueOf<typeof SchedulePut>>;
    delete(scheduleId: string): Promise<ValueOf<typeof ScheduleDelete>>;
    pause(scheduleId: string): Promise<ValueOf<typeof SchedulePause>>;
    resume(scheduleId: string): Promise<ValueOf<typeof ScheduleResume>>;
  };
  /** Short-lived memory of agents. */
  readonly sessions: {
    list(query?: RequestOf<typeof SessionList>): Promise<ValueOf<typeof SessionList>>;
    show(sessionId: string): Promise<ValueOf<typeof SessionShow>>;
    /** Forgets everything in it. Tasks accepted earlier bring nothing back. */
    reset(sessionId: string): Promise<ValueOf<typeof SessionReset>>;
  };
  readonly deadLetters: {
    list(query?: RequestOf<typeof DeadLetterList>): Promise<ValueOf<typeof DeadLetterList>>;
    /** All letters of the query, newest first, page by page. */
    each(query?: RequestOf<typeof DeadLetterList>): AsyncGenerator<DeadLetterSummary, void, undefined>;
    show(letterId: string): Promise<ValueOf<typeof DeadLetterShow>>;
    replay(letterId: string, options?: ReplayOptions): Promise<ValueOf<typeof DeadLetterReplay>>;
    discard(letterId: string, reason: string): Promise<ValueOf<typeof DeadLetterDiscard>>;
  };
  close(): Promise<void>;
};

/**
 * Connects as a tenant. Throws `BROKER_UNAVAILABLE` (nobody answers in time) or
 * `UNAUTHORIZED` (user or password refused).
 */
export async function connect(options: ClientOptions): Promise<Client> {
  const { tenant, name = 'client' } = options;
  const bus = await connectBus({
    servers: options.servers,
    principal: { kind: 'tenant', tenantId: tenant },
    ...(options.user === undefined ? {} : { user: options.user }),
    ...(options.password === undefined ? {} : { password: options.password }),
    name,
    waitOnFirstConnectMs: options.connectTimeoutMs ?? 5_000,
  });
  const wire: Wire = {
    bus,
    publisher: new Publisher(bus),
    tenantId: tenant,
    source: `/tenants/${tenant}/${name}`,
    requestTimeoutMs: options.requestTimeoutMs ?? 5_000,
  };
  return clientOver(wire);
}

/** A run takes as long as there is work. */
const LAUNDER_TIMEOUT_MS = 120_000;

function clientOver(wire: Wire): Client {
  const close = async () => {
    wire.publisher.close();
    await wire.bus.close();
  };
  return {
    tenant: wire.tenantId,
    bus: wire.bus,
    submit: (request, options) => submitTask(wire, request, options),
    result: (taskId, options) => awaitResult(wire, taskId, options),
    watch: (options) => watchTasks(wire, options),
    cancel: (taskId, reason) => change(wire, TaskCancel, { taskId, ...(reason === undefined ? {} : { reason }) }),
    approve: (taskId, sha256) => change(wire, TaskApprove, { taskId, sha256 }),
    reject: (taskId, sha256, reason) => change(wire, TaskReject, { taskId, sha256, ...(reason && { reason }) }),
    edit: (taskId, sha256, result) => change(wire, TaskEdit, { taskId, sha256, result }),
    retry: (taskId, options = {}) => change(wire, TaskRetry, { taskId, ...options }),
    fork: (taskId, { key, ...options } = {}) =>
      change(wire, TaskFork, { taskId, ...options }, key && `fork.${key}.${taskId}`),
    feedback: (feedback) => change(wire, TaskFeedback, feedback),
    task: (taskId) => ask(wire, TaskGet, { taskId }),
    steps: (taskId) => ask(wire, TaskSteps, { taskId }),
    story: (taskId) => ask(wire, TaskStory, { taskId }),
    tasks: (query = {}) => ask(wire, TaskList, query),
    eachTask: (query = {}) =>
      eachOf(
        (before) => ask(wire, TaskList, { ...query, ...(before === undefined ? {} : { before }) }),
        (page) => page.tasks,
      ),
    facts: {
      get: (query) => ask(wire, FactGet, query),
      history: (knowledgeId, pin = {}) => ask(wire, FactHistory, { knowledgeId, ...pin }),
      asOf: (query = {}) => ask(wire, FactAsOf, query),
      each: (query = {}) => eachFact(wire, query),
      impact: (knowledgeId, version) =>
        ask(wire, FactImpact, { knowledgeId, ...(version === undefined ? {} : { version }) }),
      eachAnswer: (knowledgeId, version) => eachAnswer(wire, knowledgeId, version),
      candidates: (query = {}) => ask(wire, CandidateList, query),
      search: (query) => ask(wire, FactSearch, query),
      import: (set) => change(wire, FactImportSet, set),
      add: (statement) => change(wire, FactAdd, statement),
      unarchive: (knowledgeId) => change(wire, FactUnarchive, { knowledgeId }),
      retract: (request) => change(wire, FactRetract, request),
      redact: (request) => change(wire, FactRedact, request),
      redactions: (query = {}) => ask(wire, FactRedactions, query),
      retractSource: (request) => change(wire, FactRetractSource, request),
      reviews: (query = {}) => ask(wire, FactReviews, query),
      closeReview: (request) => change(wire, FactReview, request),
      pairs: (query = {}) => ask(wire, FactPairs, query),
      disputes: (query = {}) => ask(wire, FactDisputes, query),
      resolve: (request) => change(wire, FactResolve, request),
    },
    knowledge: {
      launder: (options = {}) =>
        changeOnce({ ...wire, requestTimeoutMs: LAUNDER_TIMEOUT_MS }, KnowledgeLaunder, options),
      reports: async (query = {}) => (await ask(wire, KnowledgeReports, query)).reports,
    },
    schedules: {
      list: (query = {}) => ask(wire, ScheduleList, query),
      put: (schedule) => change(wire, SchedulePut, schedule),
      delete: (scheduleId) => change(wire, ScheduleDelete, { scheduleId }),
      pause: (scheduleId) => change(wire, SchedulePause, { scheduleId }),
      resume: (scheduleId) => change(wire, ScheduleResume, { scheduleId }),
    },
    sessions: {
      list: (query = {}) => ask(wire, SessionList, query),
      show: (sessionId) => ask(wire, SessionShow, { sessionId }),
      reset: (sessionId) => change(wire, SessionReset, { sessionId }),
    },
    deadLetters: {
      list: (query = {}) => ask(wire, DeadLetterList, query),
      each: (query = {}) =>
        eachOf(
          (before) => ask(wire, DeadLetterList, { ...query, ...(before === undefined ? {} : { before }) }),
          (page) => page.letters,
        ),
      show: (letterId) => ask(wire, DeadLetterShow, { letterId }),
      replay: (letterId, options = {}) => change(wire, DeadLetterReplay, { letterId, ...options }),
      discard: (letterId, reason) => change(wire, DeadLetterDiscard, { letterId, reason }),
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Whatever is written during the listing must neither appear in a later page nor be missing from it. */
function eachFact(wire: Wire, query: RequestOf<typeof FactAsOf>): AsyncGenerator<FactView, void, undefined> {
  let revision = query.revision;
  const read = async (after: string | undefined) => {
    const pin = revision === undefined || query.knownAt !== undefined ? {} : { revision };
    const page = await ask(wire, FactAsOf, { ...query, ...pin, ...(after === undefined ? {} : { after }) });
    revision ??= page.revision;
    return page;
  };
  return eachOf(read, (page) => page.facts);
}

async function awaitResult(wire: Wire, taskId: string, options: Pick<WatchOptions, 'signal' | 'onTrouble'> = {}) {
  for (;;) {
    options.signal?.throwIfAborted();
    const view = await askThroughOutage(wire, taskId, options.signal);
    if (isTerminal(view.state)) return view;
    for await (const _ of watchTasks(wire, { ...options, taskId, progress: false }));
  }
}

/** Whoever waits for a result has time: wait out a short absence of gateway or broker. */
const OUTAGE_MS = 60_000;
const ASK_AGAIN_MS = 500;

async function askThroughOutage(wire: Wire, taskId: string, signal: AbortSignal | undefined): Promise<TaskView> {
  const giveUpAt = performance.now() + OUTAGE_MS;
  for (;;) {
    try {
      return await ask(wire, TaskGet, { taskId });
    } catch (error) {
      if (!isAway(error) || performance.now() > giveUpAt) throw error;
      await setTimeout(ASK_AGAIN_MS, undefined, signal === undefined ? {} : { signal });
    }
  }
}
