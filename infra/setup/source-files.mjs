import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const GROUPS = ['packages', 'services'];
const SINGLE = ['infra', 'test', 'bench'];
const SKIPPED = /(^|\/)(node_modules|dist|fixtures|generated|\.[^/]+)(\/|$)/;

/**
 * Every code file of the workspace as `{ path, folder, lines, text }`; `folder` is its package, such as `packages/bus`.
 */
export async function readSourceFiles(root) {
  const files = [];
  for (const folder of await listPackageFolders(root)) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1);
      if (!entry.isFile() || !/\.(ts|mts|mjs|js|tsx)$/.test(path) || SKIPPED.test(path)) continue;
      const text = await readFile(join(root, path), 'utf8');
      files.push({ path, folder, text, lines: text.split('\n').length - 1 });
    }
  }
  return files;
}

/** The `dependencies` of every package by its folder; development dependencies are not part of what it is built on. */
export async function readDependencies(root) {
  const dependencies = new Map();
  for (const folder of await listPackageFolders(root)) {
    const text = await readFile(join(root, folder, 'package.json'), 'utf8').catch(() => '{}');
    dependencies.set(folder, Object.keys(JSON.parse(text).dependencies ?? {}));
  }
  return dependencies;
}

async function listPackageFolders(root) {
  const folders = [...SINGLE];
  for (const group of GROUPS) {
    for (const name of await readdir(join(root, group)).catch(() => [])) folders.push(`${group}/${name}`);
  }
  return folders;
}
