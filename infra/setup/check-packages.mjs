import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout, pinnedNode } from './checkout.mjs';
import { runCommand } from './command.mjs';
import { packPackages } from './pack-packages.mjs';

const DEADLINE_MS = 120_000;

/** Packs the published packages and asks publint and attw about each tarball. Returns `{ looked, problems }`. */
export async function checkPackages() {
  const folder = await mkdtemp(join(tmpdir(), 'cleanslate-packed-'));
  try {
    const tarballs = await packPackages(folder);
    const problems = [];
    for (const tarball of tarballs) {
      problems.push(await complaint('publint/src/cli.js', ['--strict', tarball]));
      // ES modules only: a `require` of them is the reader's to avoid.
      const args = [tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-color'];
      problems.push(await complaint('@arethetypeswrong/cli/dist/index.js', args));
    }
    return { looked: tarballs.length, problems: problems.filter(Boolean).join('\n') };
  } catch (error) {
    return { looked: 1, problems: error.message };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function complaint(script, args) {
  const { ok, output } = await runCommand(pinnedNode, [join(checkout, 'node_modules', script), ...args], {
    cwd: checkout,
    deadlineMs: DEADLINE_MS,
    env: { ...process.env, NO_COLOR: '1' },
  });
  return ok ? '' : output;
}
