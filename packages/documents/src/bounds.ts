/** What reading a file may cost. A file that needs more is refused, never cut. */
export interface Bounds {
  readonly maxFileBytes: number;
  readonly maxPages: number;
  /** All parts of a ZIP file together, inflated. */
  readonly maxInflatedBytes: number;
  /** Inflated to packed; text in Word files packs 5 to 30 times. */
  readonly maxRatio: number;
  readonly maxTextBytes: number;
  readonly maxMs: number;
  /** Heap of the thread that reads it. */
  readonly maxHeapMb: number;
}

const MB = 1024 * 1024;

export const DEFAULT_BOUNDS: Bounds = {
  maxFileBytes: 32 * MB,
  maxPages: 1_000,
  maxInflatedBytes: 64 * MB,
  maxRatio: 200,
  maxTextBytes: 4 * MB - 1,
  maxMs: 30_000,
  maxHeapMb: 512,
};
