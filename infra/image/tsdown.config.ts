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

/**
 * V8 keeps a text with a single character beyond Latin-1 at two bytes each: one dash makes a megabyte two. A raw
 * template would read an escape as its letters, and a backslash before it as another: such files stay as they are. Of
 * the source maps, columns behind an escape move, lines don't.
 */
const oneByteText = {
  name: 'one-byte-text',
  generateBundle(_options: unknown, files: Readonly<Record<string, { type: string; code?: string }>>) {
    for (const file of Object.values(files)) {
      if (file.code === undefined || /String\.raw|\\[\u0100-\uffff]/.test(file.code)) continue;
      file.code = file.code.replace(
        /[\u0100-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

/**
 * Everything the container image runs, with what it needs from node_modules in it: one file for each
 * service, and chunks that they share.
 */
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
  outputOptions: {
    // A service keeps the text of its code for as long as it runs.
    comments: { legal: true, annotation: false, jsdoc: false },
    // A worker thread that is started by the name of its source file.
    entryFileNames: ({ name }) => (name === 'extract-main' ? 'extract-main.ts' : '[name].mjs'),
    // A part that some services load on demand must not come to lie in the file of another one:
    // that would start it as well.
    advancedChunks: { groups: [{ name: 'store', test: /packages\/store\// }] },
  },
  plugins: [oneByteText],
  // What is read from beside the code: bundled code lies in one folder.
  copy: [{ from: at('services/gateway/src/page/assets'), to: dist }],
  // The native driver is optional, and never installed.
  deps: { alwaysBundle: /./, neverBundle: ['pg-native'] },
});
