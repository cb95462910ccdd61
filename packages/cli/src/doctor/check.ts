/** One thing that was checked. `skip`: it can't be judged, because something it needs isn't there. */
export type Check = {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'fail' | 'skip';
  readonly found: string;
  /** What to do, if anything. */
  readonly remedy?: string;
};

export function ok(name: string, found: string): Check {
  return { name, state: 'ok', found };
}

export function warn(name: string, found: string, remedy?: string): Check {
  return { name, state: 'warn', found, ...(remedy === undefined ? {} : { remedy }) };
}

export function fail(name: string, found: string, remedy: string): Check {
  return { name, state: 'fail', found, remedy };
}

/** A check that throws is a failed check, never the end of the doctor. */
export async function attempt(
  name: string,
  remedy: string,
  look: () => Promise<Check | readonly Check[]>,
): Promise<readonly Check[]> {
  try {
    const found = await look();
    return 'name' in found ? [found] : found;
  } catch (error) {
    const text = error instanceof Error && error.message !== '' ? error.message : String(error);
    return [fail(name, text.split('\n')[0] ?? text, remedy)];
  }
}
