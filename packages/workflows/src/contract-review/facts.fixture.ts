import type { FactView } from '@cleanslate/contracts';

interface FactSeed {
  readonly id: string;
  readonly version?: number;
  readonly key: string;
  readonly value: string;
  readonly unit?: string | null;
  readonly modality?: 'is' | 'may' | 'should' | 'must';
  readonly polarity?: 'positive' | 'negative';
  readonly statement: string;
  readonly validFrom?: string | null;
  readonly validUntil?: string | null;
}

/** A fact as the retriever hands it over; `key` is "payment_term max_days". */
export function aFact(seed: FactSeed): FactView {
  const [subject, predicate] = seed.key.split(' ');
  return {
    tenantId: 'acme',
    knowledgeId: seed.id,
    version: seed.version ?? 1,
    statement: seed.statement,
    assertion: {
      subject: `contract.${subject}`,
      predicate: predicate ?? '',
      value: seed.value,
      unit: seed.unit ?? null,
      polarity: seed.polarity ?? 'positive',
      modality: seed.modality ?? 'must',
    },
    knowledgeType: 'rule',
    layer: 'core',
    sourceType: 'human_confirmed',
    sourceRef: 'policy:test',
    weight: 1,
    confidence: 1,
    importance: 1,
    accessLevel: 'internal',
    sensitivity: 'none',
    contentHash: '0'.repeat(64),
    tags: [],
    validFrom: seed.validFrom ?? null,
    validUntil: seed.validUntil ?? null,
    revisionFrom: 1,
    revisionUntil: null,
  };
}

export const PIN = { validAt: '2025-06-01T00:00:00.000Z', revision: 7 };

/**
 * The facts of infra/samples/policies-en.yaml as they hold on 1 June 2025, and the version of the payment term before.
 */
export const EN_FACTS: readonly FactView[] = [
  aFact({
    id: 'hl-payment-term-max',
    version: 1,
    key: 'payment_term max_days',
    value: '60',
    unit: 'days',
    statement: 'Customers must pay within 60 days of the invoice.',
    validFrom: '2022-01-01T00:00:00.000Z',
    validUntil: '2025-01-01T00:00:00.000Z',
  }),
  aFact({
    id: 'hl-payment-term-max',
    version: 2,
    key: 'payment_term max_days',
    value: '30',
    unit: 'days',
    statement: 'Customers must pay within 30 days of the invoice.',
    validFrom: '2025-01-01T00:00:00.000Z',
  }),
  aFact({
    id: 'hl-late-rate-max',
    version: 3,
    key: 'late_payment_rate max_percent_per_year',
    value: '12',
    unit: 'percent',
    statement: 'Interest on late payments must not exceed 12% per year.',
    validFrom: '2025-03-01T00:00:00.000Z',
  }),
  aFact({
    id: 'hl-late-rate-min',
    key: 'late_payment_rate min_percent_per_year',
    value: '6',
    unit: 'percent',
    modality: 'should',
    statement: 'Interest on late payments should be at least 6% per year.',
  }),
  aFact({
    id: 'hl-liability-cap-required',
    key: 'liability_cap required',
    value: 'true',
    statement: 'Our liability must be limited to a ceiling.',
  }),
  aFact({
    id: 'hl-liability-cap-max',
    key: 'liability_cap max_multiple_of_fees',
    value: '1',
    unit: 'multiple',
    statement: 'Our total liability must not exceed 1 times the fees paid.',
  }),
];

export const ZH_FACTS: readonly FactView[] = [
  aFact({
    id: 'qh-payment-term-min',
    version: 2,
    key: 'payment_term min_days',
    value: '30',
    unit: 'days',
    statement: '采购合同的付款期限不得少于收到发票后30天。',
    validFrom: '2025-01-01T00:00:00.000Z',
  }),
  aFact({
    id: 'qh-late-rate-max',
    version: 3,
    key: 'late_payment_rate max_percent_per_year',
    value: '14.6',
    unit: 'percent',
    statement: '逾期付款违约金折合每年不得超过14.6%。',
    validFrom: '2025-02-01T00:00:00.000Z',
  }),
  aFact({
    id: 'qh-liability-cap-min',
    key: 'liability_cap min_percent_of_price',
    value: '100',
    unit: 'percent',
    statement: '供应商的赔偿责任上限不得低于合同总价的100%。',
  }),
];
