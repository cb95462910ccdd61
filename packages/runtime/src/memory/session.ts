import {
  AppError,
  DEFAULT_SESSION_TTL_MS,
  type Fence,
  MAX_SESSION_BYTES,
  MAX_SESSION_ITEM_BYTES,
  MAX_SESSION_ITEMS,
  MAX_SESSION_TTL_MS,
  SessionId,
  type SessionItem,
  SessionSpeaker,
} from '@cleanslate/contracts';
import type { Logger } from '../log/logger.ts';
import type { ContextPart } from './build-context.ts';
import type { SessionStore } from './session-store.ts';

/** `n` is null for what this step said: it is stored, and numbered, when the step has succeeded. */
export type SessionEntry = Omit<SessionItem, 'n'> & { readonly n: number | null };

export type NewSessionItem = { readonly from: SessionSpeaker; readonly text: string };

export type SessionOptions = {
  /** How long it is kept after the last item. Milliseconds, default 24 hours, at most 30 days. */
  readonly ttlMs?: number;
};

/** What was said in one conversation of the step's tenant. Everything is passed by value. */
export type StepSession = {
  readonly id: string;
  /**
   * Oldest first: what users said, what completed tasks said, and what this task said; a frozen copy. What an earlier
   * round of this step said is not in it.
   */
  readonly list: () => Promise<readonly SessionEntry[]>;
  /** The item with that number; undefined if it is not there (any more). */
  readonly get: (n: number) => Promise<SessionEntry | undefined>;
  /**
   * Stored when the step has succeeded, and once, however many attempts and rounds it takes: of those that open the
   * session the last one counts, even if it says less or nothing. A step that fails leaves nothing: no error is ever
   * played back as an answer. Throws `INVALID_INPUT` for an item that is too long.
   */
  readonly append: (...items: readonly NewSessionItem[]) => void;
  /**
   * Forgets everything at once, including what this step has appended so far. Tasks accepted earlier can't bring
   * anything back.
   */
  readonly reset: () => Promise<void>;
  /** What has not been searched for long-term memory yet. */
  readonly unextracted: () => Promise<Unextracted>;
  /** Records, when the step has succeeded, that it has been searched. */
  readonly markExtracted: (unextracted: Unextracted) => void;
};
export type Unextracted = { readonly after: number; readonly items: readonly SessionItem[] };

export type OpenSessions = {
  readonly open: (sessionId: string, options?: SessionOptions) => StepSession;
  /** Stores what the step said. Throws `STALE_ATTEMPT` if its claim is gone. */
  readonly store: () => Promise<void>;
};

type Work = {
  ttlMs: number;
  items: NewSessionItem[];
  extracted: { after: number; through: number } | null;
};

/** Sessions as one step sees them. Nothing of it outlives the step, and no other step shares it. */
export function openStepSessions(
  store: SessionStore,
  step: {
    readonly fence: Fence;
    /** Validation round, from 1. */
    readonly round: number;
    readonly signal: AbortSignal;
    readonly logger: () => Logger;
    readonly requireOpen: () => void;
  },
): OpenSessions {
  const { fence, signal } = step;
  const works = new Map<string, Work>();
  const write = async (sessionId: string, work: Work, reset: boolean) => {
    const { ttlMs, items, extracted } = work;
    const numbered = items.map((item, index) => ({ key: index + 1, ...item }));
    return await store.write({ sessionId, fence, ttlMs, reset, items: numbered, extracted }, signal);
  };
  const open = (sessionId: string, options: SessionOptions = {}): StepSession => {
    step.requireOpen();
    checkSessionId(sessionId);
    const work = works.get(sessionId) ?? { ttlMs: DEFAULT_SESSION_TTL_MS, items: [], extracted: null };
    if (options.ttlMs !== undefined) work.ttlMs = checkTtl(options.ttlMs);
    works.set(sessionId, work);
    const read = () => {
      step.requireOpen();
      return store.read({ sessionId, fence }, signal);
    };
    const list = async () => {
      const { items } = await read();
      const said = work.items.map((item) => ({ n: null, ...item, taskId: fence.taskId, at: new Date().toISOString() }));
      return Object.freeze([...items, ...said].map((entry) => Object.freeze({ ...entry })));
    };
    return Object.freeze({
      id: sessionId,
      list,
      get: async (n: number) => (await list()).find((entry) => entry.n === n),
      append: (...items: readonly NewSessionItem[]) => {
        step.requireOpen();
        work.items = checkItems(work.items, items);
      },
      reset: async () => {
        step.requireOpen();
        Object.assign(work, { items: [], extracted: null });
        await write(sessionId, work, true);
      },
      unextracted: async () => {
        const { items, extractedThrough } = await read();
        return { after: extractedThrough, items: items.filter(({ n }) => n > extractedThrough) };
      },
      markExtracted: ({ after, items }: Unextracted) => {
        step.requireOpen();
        const last = items.at(-1);
        if (last !== undefined) work.extracted = { after, through: last.n };
      },
    });
  };
  // What an earlier round said, and may have stored, must go even if this one says nothing.
  const isFirst = fence.attempt === 1 && step.round === 1;
  const storeAll = async () => {
    for (const [sessionId, work] of works) {
      if (isFirst && work.items.length === 0 && work.extracted === null) continue;
      const { outcome } = await write(sessionId, work, false);
      if (outcome === 'reset')
        step
          .logger()
          .info({ session: sessionId }, 'the session was reset or expired meanwhile: what this step said is not kept');
    }
  };
  return { open, store: storeAll };
}

/** Items as parts of a context: the newest have the highest priority, from `priority` downwards by one each. */
export function toContextParts(entries: readonly SessionEntry[], priority = 0): ContextPart[] {
  return entries.map(({ n, from, text }, index) => ({
    id: n === null ? `said-${index + 1}` : `item-${n}`,
    text,
    source: from,
    priority: priority - (entries.length - 1 - index),
  }));
}

function checkSessionId(sessionId: string): void {
  // For JavaScript callers, and inputs without a session: there is no default conversation for all to share.
  if (typeof sessionId !== 'string' || sessionId === '')
    throw new AppError(
      'INVALID_INPUT',
      'ctx.session() needs the id of a session: name the conversation, there is no default one',
    );
  const parsed = SessionId.safeParse(sessionId);
  if (!parsed.success) throw new AppError('INVALID_INPUT', `ctx.session(): ${parsed.error.issues[0]?.message}`);
}

function checkTtl(ttlMs: number): number {
  if (Number.isInteger(ttlMs) && ttlMs >= 1_000 && ttlMs <= MAX_SESSION_TTL_MS) return ttlMs;
  throw new AppError('INVALID_INPUT', `ttlMs must be a whole number from 1,000 to ${MAX_SESSION_TTL_MS}`);
}

function checkItems(known: readonly NewSessionItem[], added: readonly NewSessionItem[]): NewSessionItem[] {
  const checked = added.map(({ from, text }) => {
    if (!SessionSpeaker.safeParse(from).success)
      throw new AppError('INVALID_INPUT', `from must be ${SessionSpeaker.options.join(', ')}, not "${String(from)}"`);
    const storable = text.replaceAll('\0', '\uFFFD').toWellFormed();
    const bytes = Buffer.byteLength(storable);
    if (bytes === 0 || bytes > MAX_SESSION_ITEM_BYTES)
      throw new AppError(
        'INVALID_INPUT',
        `text has ${bytes} bytes, must have 1 to ${MAX_SESSION_ITEM_BYTES}: append what it comes to`,
      );
    return { from, text: storable };
  });
  const all = [...known, ...checked];
  const bytes = all.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (all.length <= MAX_SESSION_ITEMS && bytes <= MAX_SESSION_BYTES) return all;
  throw new AppError(
    'INVALID_INPUT',
    `a session holds ${MAX_SESSION_ITEMS} items and ${MAX_SESSION_BYTES} bytes; this step alone appends ${all.length} and ${bytes}`,
  );
}
