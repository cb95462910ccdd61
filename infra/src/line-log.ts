import type { Readable } from 'node:stream';

const KEPT_LINES = 200;

/** The recent output of a process, line by line, for error messages and for one merged log. */
export class LineLog {
  readonly #lines: string[] = [];
  readonly #listeners = new Set<(line: string) => void>();

  /** Splits a stream into lines; several streams may feed one log. */
  follow(stream: Readable): void {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) this.#add(line.replace(/\r$/, ''));
    });
    stream.on('end', () => {
      if (rest !== '') this.#add(rest);
      rest = '';
    });
    stream.on('error', () => {});
  }

  /** Calls `listener` with every later line; returns the function that ends this. */
  onLine(listener: (line: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  last(count = 20): string[] {
    return this.#lines.slice(-count);
  }

  #add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }
}
