/** What free text may contain that identifies somebody, or opens something. */
export type SensitiveKind = 'resident_id' | 'credit_code' | 'bank_card' | 'phone' | 'email' | 'iban' | 'credential';

/** Kept as it is; replaced by its kind; reason to refuse the whole text. */
export type SensitiveLevel = 'store' | 'mask' | 'refuse';

export type SensitivePolicy = Readonly<Record<SensitiveKind, SensitiveLevel>>;

/**
 * A unified social credit code names a company in a public register: contract reviews need it. All other kinds identify
 * a person, or are a key.
 */
export const DEFAULT_SENSITIVE: SensitivePolicy = {
  resident_id: 'mask',
  credit_code: 'store',
  bank_card: 'mask',
  phone: 'mask',
  email: 'mask',
  iban: 'mask',
  credential: 'refuse',
};

/** A half-open range of UTF-16 offsets into the text that was looked at. */
export type SensitiveSpan = { readonly kind: SensitiveKind; readonly start: number; readonly end: number };

/** Finds one kind in folded text (see `foldText`); in linear time, whatever the text. */
export type Recognizer = (folded: string) => readonly SensitiveSpan[];
