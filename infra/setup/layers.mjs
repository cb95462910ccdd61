/** Package → layer. A package may be built on lower layers only; see docs for what each layer is. */
const LAYERS = {
  contracts: 0,
  domain: 1,
  documents: 1,
  workflows: 2,
  bus: 2,
  store: 2,
  llm: 2,
  sources: 2,
  runtime: 2,
  client: 3,
  infra: 3,
  cli: 4,
  testing: 4,
  test: 5,
  bench: 5,
};
const SERVICE_LAYER = 4;

/** The one package that composes its siblings. */
const SIBLINGS = { runtime: ['bus', 'llm', 'store'] };

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(\s*|^\s*import\s+)['"]([^'"]+)['"]/gm;

/** Every breach of the layering in imports and package files, as lines for a person. */
export function findLayerBreaches(files, dependencies) {
  const breaches = [];
  for (const [folder, names] of dependencies) {
    for (const name of names.filter((each) => each.startsWith('@cleanslate/'))) {
      const problem = judge(folder, name.slice('@cleanslate/'.length));
      if (problem) breaches.push(`${folder}/package.json: ${problem}`);
    }
  }
  for (const file of files) {
    // A test may use the launchers of a higher layer.
    if (/\.test\.\w+$/.test(file.path)) continue;
    for (const [, specifier] of file.text.matchAll(IMPORT)) {
      const problem = judgeImport(file, specifier);
      if (problem) breaches.push(`${file.path}: ${problem}`);
    }
  }
  return breaches;
}

/**
 * One other entry of a package, and its name is fixed; but for what users need of the test kit, and for what a
 * scheduler needs of a package, which does without the memory of the rest.
 */
const OTHER_ENTRIES = new Set([
  'testing/memory',
  'domain/ledger',
  'runtime/service',
  'store/ledger',
  'workflows/plans',
]);

function judgeImport(file, specifier) {
  if (specifier.startsWith('@cleanslate/')) {
    const [, name, deeper] = specifier.split('/');
    if (deeper !== undefined && deeper !== 'testing' && !OTHER_ENTRIES.has(`${name}/${deeper}`))
      return `imports ${specifier}; only the package's own entry is public`;
    return judge(file.folder, name);
  }
  if (specifier.startsWith('.') && leavesPackage(file, specifier)) {
    return `imports ${specifier}, which leaves its package; import the package by its name`;
  }
  if (file.folder === 'packages/contracts' && !specifier.startsWith('.') && !/^(zod|node:.+)$/.test(specifier)) {
    return `imports ${specifier}; contracts may import zod and nothing else`;
  }
  return undefined;
}

function judge(folder, target) {
  const own = folder.split('/').at(-1);
  if (own === target) return undefined;
  const ownLayer = folder.startsWith('services/') ? SERVICE_LAYER : LAYERS[own];
  const targetLayer = target.startsWith('service-') ? SERVICE_LAYER : LAYERS[target];
  if (ownLayer === undefined) return `${folder} has no layer; add it to LAYERS in infra/setup/layers.mjs`;
  if (targetLayer === undefined)
    return `@cleanslate/${target} has no layer; add it to LAYERS in infra/setup/layers.mjs`;
  if (targetLayer < ownLayer || SIBLINGS[own]?.includes(target)) return undefined;
  return `layer ${ownLayer} may not use @cleanslate/${target} of layer ${targetLayer}`;
}

function leavesPackage(file, specifier) {
  const from = file.path.split('/').slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '..') from.pop();
    else if (part !== '.') from.push(part);
  }
  return !`${from.join('/')}/`.startsWith(`${file.folder}/`);
}
