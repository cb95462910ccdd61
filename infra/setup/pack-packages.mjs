import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout, pinnedNode } from './checkout.mjs';
import { runCommand } from './command.mjs';
import { SetupError } from './say.mjs';

const DEADLINE_MS = 120_000;
const GROUPS = ['packages', '.'];

/**
 * Builds every package that has `publishConfig.exports` and packs it into a tarball under `folder`, as it would be
 * published: JavaScript and types in `dist`, dependencies on each other by version. The checkout itself is not touched.
 * Returns the tarballs' paths. Throws `SetupError`.
 */
export async function packPackages(folder) {
  const work = await mkdtemp(join(tmpdir(), 'cleanslate-pack-'));
  try {
    const packages = await findPublished();
    await compile(packages, work);
    const staged = [];
    for (const each of packages) staged.push(await stage(each, packages, work));
    await mkdir(folder, { recursive: true });
    const { ok, output, stdout } = await runCommand(
      'npm',
      ['pack', '--json', '--pack-destination', folder, ...staged],
      {
        cwd: work,
        deadlineMs: DEADLINE_MS,
      },
    );
    if (!ok) throw new SetupError(`npm pack failed:\n${output}`);
    return readPacked(stdout).map(({ filename }) => join(folder, filename.replace('@', '').replace('/', '-')));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** npm 11 answers a list, later ones an object by name. */
function readPacked(stdout) {
  const packed = JSON.parse(stdout);
  return Array.isArray(packed) ? packed : Object.values(packed);
}

async function findPublished() {
  const found = [];
  for (const group of GROUPS) {
    for (const name of await readdir(join(checkout, group))) {
      const path = join(group, name);
      const text = await readFile(join(checkout, path, 'package.json'), 'utf8').catch(() => '{}');
      const manifest = JSON.parse(text);
      if (manifest.publishConfig?.exports !== undefined) found.push({ path, manifest });
    }
  }
  return found;
}

/** What Node 20 has: packages that say they run there are compiled against it first. */
const NODE_20 = ['es2023', 'es2024.string', 'es2024.regexp', 'esnext.disposable'];

async function compile(packages, work) {
  const onNode20 = packages.filter(({ manifest }) => manifest.engines.node === '>=20');
  // Found through node_modules, another package's sources would count as a library's, and would not be compiled.
  const paths = Object.fromEntries(packages.flatMap((each) => entriesOf(each).map(({ name, file }) => [name, [file]])));
  await runCompiler(onNode20, work, { paths, lib: NODE_20, noEmit: true });
  // One program for all of them: what one exports is checked against how the others use it.
  await runCompiler(packages, work, { paths });
}

/** What a package exports: the name to import it by, and its source. */
function entriesOf({ path, manifest }) {
  return Object.keys(manifest.publishConfig.exports).map((key) => ({
    name: join(manifest.name, key),
    file: join(checkout, path, manifest.exports[key]),
  }));
}

async function runCompiler(packages, work, options) {
  const config = join(work, 'tsconfig.json');
  const settings = {
    extends: join(checkout, 'tsconfig.build.json'),
    compilerOptions: {
      rootDir: checkout,
      outDir: join(work, 'out'),
      typeRoots: [join(checkout, 'node_modules/@types')],
      ...options,
    },
    files: packages.flatMap((each) => entriesOf(each).map(({ file }) => file)),
  };
  await writeFile(config, JSON.stringify(settings));
  const tsc = join(checkout, 'node_modules/typescript/bin/tsc');
  const { ok, output } = await runCommand(pinnedNode, [tsc, '-p', config, '--pretty', 'false'], {
    cwd: checkout,
    deadlineMs: DEADLINE_MS,
  });
  if (!ok) throw new SetupError(`the packages do not compile:\n${output}`);
}

async function stage({ path, manifest }, packages, work) {
  const staged = join(work, 'staged', path.replaceAll('/', '-'));
  await cp(join(work, 'out', path, 'src'), join(staged, 'dist'), { recursive: true });
  await renameImports(join(staged, 'dist'));
  for (const file of manifest.files.filter((each) => each !== 'dist'))
    await cp(join(checkout, path, file), join(staged, file), { recursive: true });
  await cp(join(checkout, path, 'README.md'), join(staged, 'README.md'));
  await cp(join(checkout, 'LICENSE'), join(staged, 'LICENSE'));
  await writeFile(join(staged, 'package.json'), JSON.stringify(toPublished(manifest, packages), null, 2));
  return staged;
}

/** The compiler writes `./x.js` into JavaScript, but leaves `./x.ts` in declarations. */
async function renameImports(dist) {
  for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.d.ts')) continue;
    const file = join(entry.parentPath ?? entry.path, entry.name);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/((?:from|import\()\s*["']\.{1,2}\/[^"']+)\.ts(["'])/g, '$1.js$2'));
  }
}

function toPublished({ devDependencies: _, publishConfig, dependencies = {}, ...manifest }, packages) {
  const versions = new Map(packages.map((each) => [each.manifest.name, each.manifest.version]));
  const pinned = Object.entries(dependencies).map(([name, range]) => {
    // A program that has a newer zod of its own must not get a second one beside it.
    if (!range.startsWith('workspace:')) return [name, range.replace(/^\d/, '^$&')];
    const version = versions.get(name);
    if (version === undefined) throw new SetupError(`${manifest.name} needs ${name}, which is not published`);
    return [name, version];
  });
  const { exports, ...publishing } = publishConfig;
  return { ...manifest, exports, dependencies: Object.fromEntries(pinned), publishConfig: publishing };
}
