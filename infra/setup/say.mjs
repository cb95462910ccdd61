// Progress goes to stderr: `npm run demo -- --json` must leave exactly one document on stdout.
const startedAt = Date.now();

/** Prints one short progress line with the seconds since the start. */
export function say(line) {
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1).padStart(6);
  process.stderr.write(`${seconds} s  ${line}\n`);
}

/** A failure whose text is meant for a person: what was wrong and one remedy for each system. */
export class SetupError extends Error {
  /** @param {string} problem @param {Record<string, string>} remedies system → what to do there */
  constructor(problem, remedies = {}) {
    const lines = Object.entries(remedies).map(([system, remedy]) => `  ${system}: ${remedy}`);
    super([problem, ...lines].join('\n'));
    this.name = 'SetupError';
  }
}
