import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Ends a run with a line that any tool can read: `N passed, N failed`, and `, N skipped` if some were. */
export class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // A test that never ran to its end ("pending") was not proven.
        counts[state === 'pending' ? 'failed' : state] += 1;
      }
      // A file that does not load, or whose hooks throw, has failed even if none of its tests has.
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    }
    // An error outside any test makes the run red; the line has to say so too.
    counts.failed += unhandledErrors.length;
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
    console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
  }
}
