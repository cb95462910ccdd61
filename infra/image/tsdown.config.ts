import { fileURLToPath } from 'node:url';
import { defineConfig } from 'tsdown';

/** Environment: IMAGE_DIST, where to. */
const dist = process.env['IMAGE_DIST'] ?? fileURLToPath(new URL('../../.cleanslate/image/dist', import.meta.url));
const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const SERVICES = [
  'scheduler',
  'knowledge-maintainer',
  'gateway',
  'planner',
  'retriever',
  'analyzer',
  'generator',
  'validator',
];

/** Everything the container image runs, with what it needs from node_modules in it: one file for each service, and chunks that they share. */
export default defineConfig({
  entry: {
    ...Object.fromEntries(SERVICES.map((name) => [name, at(`services/${name}/src/main.ts`)])),
    slate: at('packages/cli/src/main.ts'),
    'extract-main': at('packages/documents/src/extract-main.ts'),
  },
  cwd: at('.'),
  outDir: dist,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  dts: false,
  sourcemap: true,
  clean: true,
  // A worker thread that is started by the name of its source file.
  outputOptions: {
    entryFileNames: ({ name }) => (name === 'extract-main' ? 'extract-main.ts' : '[name].mjs'),
    // A part that some services load on demand must not come to lie in the file of another one: that would start it as well.
    advancedChunks: { groups: [{ name: 'store', test: /packages\/store\// }] },
  },
  // What is read from beside the code: bundled code lies in one folder.
  copy: [{ from: at('services/gateway/src/page/assets'), to: dist }],
  // The native driver is optional, and never installed.
  deps: { alwaysBundle: /./, neverBundle: ['pg-native'] },
});
