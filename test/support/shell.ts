import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Said = { readonly code: number; readonly text: string };

/** A bash that stays: what one block defines, the next one has. Everything it started ends with it. */
export class Shell implements AsyncDisposable {
  readonly #bash;
  readonly #ended: Promise<void>;
  #text = '';
  #wake: () => void = () => undefined;
  #blocks = 0;
  #isOver = false;
  readonly #folder: string;

  constructor(cwd: string, env: Readonly<Record<string, string | undefined>>) {
    // Its own process group, for the programs it leaves in the background.
    this.#bash = spawn('bash', ['--noprofile', '--norc'], { cwd, env, detached: true, stdio: 'pipe' });
    this.#folder = cwd;
    // What is still being written when bash ends (it is ended by its group) fails with EPIPE; `run` says that it ended.
    this.#bash.stdin.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      this.#bash.once('close', () => {
        this.#isOver = true;
        this.#wake();
        resolve();
      });
    });
    for (const stream of [this.#bash.stdout, this.#bash.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#text += text;
        this.#wake();
      });
    }
  }

  /** What the block said, both streams as they came, and the exit code of its first command that failed. */
  async run(block: string): Promise<Said> {
    const mark = `--- block ${++this.#blocks} ended `;
    const file = join(this.#folder, `block-${this.#blocks}.sh`);
    await writeFile(file, `code=\ntrap 'code=\${code:-$?}' ERR\n${block}\ntrap - ERR\n`);
    this.#text = '';
    // Sourced, since a subshell would forget what the block defines; and with a stdin of its own, since programs
    // would read on in the script.
    this.#bash.stdin.write(`source '${file}' < /dev/null\necho "${mark}\${code:-0}" 1>&2\n`);
    for (;;) {
      const [before, rest] = this.#text.split(mark);
      const code = /^(\d+)\n/.exec(rest ?? '')?.[1];
      if (code !== undefined) return { code: Number(code), text: before ?? '' };
      if (this.#isOver) throw new Error(`the shell ended: ${this.#text}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(-(this.#bash.pid ?? 0), 'SIGTERM');
    } catch {
      // Nothing of it runs any more.
    }
    this.#bash.stdin.end('exit\n');
    await this.#ended;
  }
}
