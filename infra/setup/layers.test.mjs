import { expect, test } from 'vitest';
import { findLayerBreaches } from './layers.mjs';

const none = new Map();
const file = (path, text) => ({
  path,
  text,
  lines: 1,
  folder: path
    .split('/')
    .slice(0, path.startsWith('infra') ? 1 : 2)
    .join('/'),
});
const breaches = (path, text) => findLayerBreaches([file(path, text)], none);

test.each([
  ['packages/bus/src/a.ts', "import { x } from '@cleanslate/contracts';"],
  ['packages/runtime/src/a.ts', "import { x } from '@cleanslate/store';"],
  ['services/scheduler/src/main.ts', "import { x } from '@cleanslate/runtime';"],
  ['packages/bus/src/a.test.ts', "import { startNatsServer } from '@cleanslate/infra';"],
  ['packages/bus/src/deep/a.ts', "import { x } from '../b.ts';"],
  ['packages/contracts/src/a.ts', "import { z } from 'zod';"],
])('%s may say %s', (path, text) => {
  expect(breaches(path, text)).toEqual([]);
});

test.each([
  [
    'packages/domain/src/a.ts',
    "import { x } from '@cleanslate/bus';",
    /layer 1 may not use @cleanslate\/bus of layer 2/,
  ],
  ['packages/bus/src/a.ts', "export * from '@cleanslate/store';", /layer 2 may not use/],
  ['packages/store/src/a.ts', "await import('@cleanslate/runtime')", /layer 2 may not use/],
  ['packages/client/src/a.ts', "import '@cleanslate/infra';", /layer 3 may not use/],
  ['services/gateway/src/a.ts', "import { x } from '@cleanslate/service-scheduler';", /layer 4 may not use/],
  ['packages/bus/src/a.ts', "import { x } from '../../store/src/index.ts';", /leaves its package/],
  ['packages/bus/src/a.ts', "import { x } from '@cleanslate/contracts/src/ids.ts';", /own entry is public/],
  ['packages/contracts/src/a.ts', "import pg from 'pg';", /zod and nothing else/],
  ['packages/novel/src/a.ts', "import { x } from '@cleanslate/bus';", /has no layer/],
])('%s may not say %s', (path, text, expected) => {
  expect(breaches(path, text)).toEqual([expect.stringMatching(expected)]);
});

test('the dependencies of a package file count too', () => {
  const dependencies = new Map([['packages/domain', ['@cleanslate/contracts', '@cleanslate/store', 'zod']]]);
  expect(findLayerBreaches([], dependencies)).toEqual([
    expect.stringMatching(/^packages\/domain\/package.json: layer 1/),
  ]);
});
