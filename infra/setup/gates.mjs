import { join } from 'node:path';
import { checkPackages } from './check-packages.mjs';
import { checkout, pinnedNode } from './checkout.mjs';
import { runCommand } from './command.mjs';
import { findLayerBreaches } from './layers.mjs';
import { readDependencies, readSourceFiles } from './source-files.mjs';
import { findEnvironmentReads, findLongFiles, findModuleState } from './source-rules.mjs';

const DEADLINE_MS = 300_000;

/**
 * The gates. Each returns `{ looked, problems }`: how many files it looked at (a gate that looked at none has failed,
 * whatever it says) and what it found, as text; empty if all is well.
 */
export const gates = {
  'format and lint (biome)': () =>
    runTool(['@biomejs/biome/bin/biome', 'check', '--max-diagnostics=50', '.'], /Checked (\d+) files?/),
  'promises (oxlint)': () =>
    runTool(['oxlint/bin/oxlint', '--type-aware', '--tsconfig=tsconfig.json'], /on (\d+) files?/),
  'types (tsc)': checkTypes,
  layers: () => checkSources((files, dependencies) => findLayerBreaches(files, dependencies)),
  'file size': () => checkSources(findLongFiles),
  environment: () => checkSources(findEnvironmentReads),
  'module state': () => checkSources(findModuleState),
  'published packages (publint, attw)': checkPackages,
  'unused code (knip)': () =>
    runTool(['knip/bin/knip.js', '--no-progress', '--no-config-hints', '--performance'], /^parseFile +(\d+)/m),
};

async function runTool([script, ...args], countPattern) {
  const { ok, output } = await runCommand(pinnedNode, [join(checkout, 'node_modules', script), ...args], {
    cwd: checkout,
    deadlineMs: DEADLINE_MS,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
  });
  // knip's count of files comes in a table of timings that nobody needs to read.
  const findings = output.replace(/\n\nName +size[\s\S]*$/, '');
  return { looked: Number(countPattern.exec(output)?.[1] ?? 0), problems: ok ? '' : findings };
}

async function checkTypes() {
  const { ok, stdout, output } = await runCommand(
    pinnedNode,
    [join(checkout, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json', '--listFiles', '--pretty', 'false'],
    { cwd: checkout, deadlineMs: DEADLINE_MS },
  );
  const lines = stdout.split('\n').filter(Boolean);
  const ours = lines.filter((line) => line.startsWith('/') && !line.includes('/node_modules/'));
  const findings = lines.filter((line) => !line.startsWith('/')).join('\n');
  return { looked: ours.length, problems: ok ? '' : findings || output };
}

async function checkSources(find) {
  const files = await readSourceFiles(checkout);
  return { looked: files.length, problems: find(files, await readDependencies(checkout)).join('\n') };
}
