import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { openProgram } from '../scripts/reference.ts';

const ROOT = join(import.meta.dirname, '../../..');
const program = openProgram({ write: () => undefined });
const scripts = Object.keys(
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts,
);
const documents = ['README.md', 'README.zh.md', 'ARCHITECTURE.md', ...globSync('docs/**/*.md', { cwd: ROOT })].map(
  (name) => ({ name, text: readFileSync(join(ROOT, name), 'utf8') }),
);

describe.each(documents)('$name', ({ name, text }) => {
  test('names only commands and options that exist', () => {
    const unknown = commandLines(text).filter((words) => !isKnown(words));
    expect(unknown.map((words) => words.join(' '))).toEqual([]);
  });

  test('names only npm scripts that exist', () => {
    const named = [...text.matchAll(/\bnpm run (?:-s )?([a-z][a-z:-]*)/g)].map(([, script = '']) => script);
    // A package of the reader's own has scripts of its own.
    const own = new Set(['dev', 'start', 'build']);
    expect(named.filter((script) => !scripts.includes(script) && !own.has(script))).toEqual([]);
  });

  test('its links lead to files', () => {
    const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)|(?:src|srcset)="([^"]+)"/g)].map(
      ([, link, source]) => link ?? source ?? '',
    );
    const dead = links.filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(ROOT, dirname(name), link)));
    expect(dead).toEqual([]);
  });
});

test('the two READMEs have the same sections and show the same commands in the same order', () => {
  const [english, chinese] = ['README.md', 'README.zh.md'].map((name) => {
    const { text = '' } = documents.find((each) => each.name === name) ?? {};
    return {
      blocks: [...text.matchAll(/^(?:## |```(?=[a-z]))(\w*)/gm)].map(([mark]) => (mark.startsWith('##') ? '##' : mark)),
      commands: commandLines(text).map((words) => toPath(words).join(' ')),
    };
  });
  expect(chinese).toEqual(english);
  expect(english?.commands).toContain('workflow list');
});

test('docs/README.md leads to every page', () => {
  const index = documents.find(({ name }) => name === 'docs/README.md')?.text ?? '';
  const pages = globSync('**/*.md', { cwd: join(ROOT, 'docs') }).filter((page) => !page.startsWith('decisions/'));
  expect(pages.filter((page) => page !== 'README.md' && !index.includes(`](${page})`))).toEqual([]);
  expect(pages.length).toBeGreaterThan(10);
});

test('docs/decisions/README.md names every record once, by its title, and the numbers that have none', () => {
  const folder = join(ROOT, 'docs/decisions');
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const files = globSync('[0-9]*.md', { cwd: folder }).sort();
  const records = files.map((file) => ({
    number: Number(file.slice(0, 4)),
    line: `- [${/^# (.*)/.exec(readFileSync(join(folder, file), 'utf8'))?.[1]}](${file}): `,
  }));
  expect(
    records.filter(({ number, line }) => !line.startsWith(`- [${number}. `) || index.split(line).length !== 2),
  ).toEqual([]);
  expect(index.match(/^- /gm)).toHaveLength(records.length);
  const taken = new Set(records.map(({ number }) => number));
  const unused = Array.from({ length: Math.max(...taken) }, (_, n) => n + 1).filter((number) => !taken.has(number));
  expect(/([\d, and]+) are not in use/.exec(index)?.[1]?.match(/\d+/g)?.map(Number)).toEqual(unused);
});

test('the check finds what is wrong, and something to check', () => {
  expect(isKnown(['task', 'vanish'])).toBe(false);
  expect(isKnown(['task', 'list', '--no-such-option'])).toBe(false);
  expect(documents.flatMap(({ text }) => commandLines(text)).length).toBeGreaterThan(30);
});

/** What follows `slate` wherever a command begins in shell code: a line, a loop's body, a substitution. */
function commandLines(text: string): string[][] {
  return [...text.matchAll(/```sh\n(.*?)```/gs)]
    .flatMap(([, code = '']) => code.replaceAll('\\\n', ' ').split('\n'))
    .flatMap((line) => line.replace(/\s#.*$/, '').split(/;|&&|[$<]\(|\bdo\b/))
    .flatMap((part) => /^\s*(?:\$ )?(?:npx (?:-s )?)?slate ([^)]*)/.exec(part)?.[1] ?? [])
    .map(
      (rest) =>
        rest
          .split(/\s*[|<>&;]/)[0]
          ?.trim()
          .split(/\s+/) ?? [],
    );
}

/** The words that name the command, without its arguments and options. */
function toPath(words: readonly string[]): readonly string[] {
  const path: string[] = [];
  for (let command: Command | undefined = program; command !== undefined; ) {
    command = command.commands.find((each) => each.name() === words[path.length]);
    if (command !== undefined) path.push(command.name());
  }
  return path;
}

function isKnown(words: readonly string[]): boolean {
  let command: Command = program;
  let at = 0;
  for (; at < words.length; at++) {
    const next = command.commands.find((each) => each.name() === words[at] || each.aliases().includes(words[at] ?? ''));
    if (next === undefined) break;
    command = next;
  }
  if (command.commands.length > 0 && words[at] !== undefined && !words[at]?.startsWith('-')) return false;
  const options = new Set(['--help', '--version']);
  for (let each: Command | null = command; each !== null; each = each.parent)
    for (const { long, short } of each.options) for (const flag of [long, short]) if (flag) options.add(flag);
  return words.slice(at).every((word) => !word.startsWith('--') || options.has(word.split('=')[0] ?? ''));
}
