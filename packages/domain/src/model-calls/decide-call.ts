/** The limits set for one scope. Null: no limit of that kind. */
export type CallLimit = {
  /** Null: all tenants together. */
  readonly tenantId: string | null;
  /** Empty: all models together. */
  readonly model: string;
  readonly maxRequests: number | null;
  readonly tokensPerMinute: number | null;
  readonly tokensPerDay: number | null;
  readonly costPerDay: number | null;
};

/** Usage within the scope of a limit when the call was asked for. */
export type LimitUse = {
  readonly limit: CallLimit;
  readonly openRequests: number;
  readonly minuteTokens: number;
  /** Until the oldest request of the last minute is older than that. */
  readonly minuteEasesInMs: number;
  readonly dayTokens: number;
  readonly dayCost: number;
  readonly dayEndsInMs: number;
};

/** The most a call can use. */
export type CallNeed = { readonly tokens: number; readonly cost: number };

export type CallDecision =
  /** `bounded`: requests at once are limited, so permission ends with its lease. */
  | { readonly answer: 'granted'; readonly bounded: boolean }
  | { readonly answer: 'wait'; readonly limit: string; readonly retryInMs: number }
  | { readonly answer: 'never'; readonly limit: string };

/** A running request will end some time; nobody can say when. */
const SLOT_RETRY_MS = 250;
const MIN_RETRY_MS = 50;

type Check = {
  readonly what: string;
  readonly allowed: number | null;
  readonly used: number;
  readonly needs: number;
  readonly retryInMs: number;
};

/**
 * May the call begin? Only if every limit that applies has room; of those without, the one that takes longest says when
 * to come again.
 */
export function decideCall(uses: readonly LimitUse[], need: CallNeed): CallDecision {
  const checks = uses.flatMap((use) => toChecks(use, need).map((check) => ({ ...check, scope: toScope(use.limit) })));
  const over = checks.filter(({ allowed, used, needs }) => allowed !== null && used + needs > allowed);
  const never = over.find(({ allowed, needs }) => allowed !== null && needs > allowed);
  if (never) return { answer: 'never', limit: `${never.needs} of ${never.allowed} ${never.what} ${never.scope}` };
  const [longest] = over.toSorted((a, b) => b.retryInMs - a.retryInMs);
  if (longest === undefined)
    return { answer: 'granted', bounded: uses.some(({ limit }) => limit.maxRequests !== null) };
  const limit = `${longest.allowed} ${longest.what} ${longest.scope}`;
  return { answer: 'wait', limit, retryInMs: Math.max(MIN_RETRY_MS, Math.ceil(longest.retryInMs)) };
}

function toChecks({ limit, ...use }: LimitUse, need: CallNeed): Check[] {
  return [
    {
      what: 'requests at once',
      allowed: limit.maxRequests,
      used: use.openRequests,
      needs: 1,
      retryInMs: SLOT_RETRY_MS,
    },
    {
      what: 'tokens per minute',
      allowed: limit.tokensPerMinute,
      used: use.minuteTokens,
      needs: need.tokens,
      retryInMs: use.minuteEasesInMs,
    },
    {
      what: 'tokens per day',
      allowed: limit.tokensPerDay,
      used: use.dayTokens,
      needs: need.tokens,
      retryInMs: use.dayEndsInMs,
    },
    {
      what: 'costs per day',
      allowed: limit.costPerDay,
      used: use.dayCost,
      needs: need.cost,
      retryInMs: use.dayEndsInMs,
    },
  ];
}

function toScope({ tenantId, model }: CallLimit): string {
  const ofModel = model === '' ? 'of all models' : `of model "${model}"`;
  return tenantId === null ? ofModel : `${ofModel} for tenant "${tenantId}"`;
}
