import { expect, test } from 'vitest';
import { findEnvironmentReads, findLongFiles, findModuleState } from './source-rules.mjs';

test('a file over 400 lines is named', () => {
  const files = [
    { path: 'infra/src/short.ts', lines: 400, text: '' },
    { path: 'infra/src/long.ts', lines: 401, text: '' },
  ];
  expect(findLongFiles(files)).toEqual([expect.stringMatching(/^infra\/src\/long.ts: 401 lines/)]);
});

test('the environment is read only where configuration is parsed', () => {
  const at = (path) => ({ path, text: "process.env['X']", lines: 1 });
  const allowed = [
    'services/scheduler/src/main.ts',
    'packages/cli/src/up.ts',
    'packages/runtime/src/config.ts',
    'infra/src/a.ts',
  ];
  const refused = ['services/scheduler/src/handlers/a.ts', 'packages/store/src/a.ts', 'packages/runtime/src/logger.ts'];
  expect(findEnvironmentReads([...allowed, ...refused].map(at)).map((line) => line.split(':')[0])).toEqual(refused);
});

test('executors keep nothing between commands', () => {
  const at = (path, text) => ({ path, text, lines: 1 });
  const handler = 'services/analyzer/src/handlers/a.ts';
  const kept = [
    'let last = 0;',
    'export var seen;',
    'const cache = new Map<string, number>();',
    'const all: string[] = [];',
  ];
  for (const text of kept) expect(findModuleState([at(handler, `import x;\n${text}\n`)]), text).toHaveLength(1);
  const free = [
    '  let inside = 0;',
    "const NAMES = new Set(['a']);",
    'const LIMIT = 5;',
    'export const f = () => new Map();',
  ];
  expect(findModuleState(free.map((text) => at(handler, text)))).toEqual([]);
  expect(findModuleState([at('packages/store/src/a.ts', 'let pool;')])).toEqual([]);
});
