import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { run } from '../run.ts';

async function scriptOf(shell: string): Promise<string> {
  let text = '';
  const stdout = {
    write: (more: string) => {
      text += more;
    },
  };
  const code = await run(['completion', shell], {
    env: {},
    stdout,
    stderr: stdout,
    signal: new AbortController().signal,
  });
  expect(code).toBe(0);
  return text;
}

const bash = await scriptOf('bash');

/** What a real bash offers at the end of the line: the last word is the one being typed. */
function complete(...words: string[]): string[] {
  const program = `${bash}
COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _slate
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const offered = execFileSync('bash', ['--norc', '-c', program, 'bash', 'slate', ...words], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  });
  return offered.split('\n').filter((line) => line !== '');
}

test.each<[words: string[], offered: string[]]>([
  [['ta'], ['task']],
  [
    ['task', 'e'],
    ['explain', 'edit'],
  ],
  [['task', 'list', '--st'], ['--state']],
  [['task', 'list', '--state', 'f'], ['failed']],
  [['dlq', 'list', '--status', 'open', '--status', 're'], ['replaying']],
  [
    ['submit', 'contract-review', '--priority', ''],
    ['low', 'normal', 'high'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['fact', 'import', 'scr'], ['scripts.ts']],
  [['submit', 'noop', '--input', 'completion.t'], ['completion.test.ts']],
  [['task', 'show', '--te'], ['--tenant']],
  [['nonsense', '--js'], []],
])('bash: slate %j offers %j', (words, offered) => {
  expect(complete(...words).sort()).toEqual([...offered].sort());
});

test('every command and option is in each script', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await scriptOf(shell);
    for (const word of ['explain', 'candidates', 'awaiting_validation', 'stop-after', 'time-zone', 'after-restore'])
      expect([shell, word, script.includes(word)]).toEqual([shell, word, true]);
  }
});

test('a shell nobody knows is bad usage', async () => {
  let text = '';
  const stderr = {
    write: (more: string) => {
      text += more;
    },
  };
  const world = { env: {}, stdout: stderr, stderr, signal: new AbortController().signal };
  expect(await run(['completion', 'tcsh'], world)).toBe(2);
  expect(text).toContain('bash, zsh, fish');
});
