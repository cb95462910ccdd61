import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from './cache.mjs';
import { checkout, pinnedNode, stateFolder } from './checkout.mjs';
import { lastLines, runCommand } from './command.mjs';
import { SetupError, say } from './say.mjs';

// Pinned here and not through `packageManager`, which breaks --frozen-lockfile with pnpm 12.
const PNPM = 'pnpm@12.21.0';
const STAMP = join(checkout, 'node_modules', '.cleanslate-stamp');
const WORKSPACE_FOLDERS = ['packages', 'services'];
const SINGLE_PACKAGES = ['infra', 'test', 'bench'];

const REMEDIES = {
  'Debian/Ubuntu': 'check that npm reaches its registry: `npm ping`',
  macOS: 'check that npm reaches its registry: `npm ping`',
  Docker: "check the container's network and npm configuration: `npm ping`",
};

/** Installs the packages unless those of the present lock file are there already. */
export async function installPackages() {
  const fingerprint = await readFingerprint();
  if (await isInstalled(fingerprint)) return;
  await withLock(join(stateFolder, 'packages.lock'), async () => {
    if (await isInstalled(fingerprint)) return;
    say(`packages: installing with ${PNPM}`);
    // CI=true: pnpm must not ask questions that nobody will answer.
    const env = { ...process.env, CI: 'true' };
    const args = ['-y', PNPM, 'install', '--frozen-lockfile'];
    const installed = await runCommand('npx', args, { cwd: checkout, env, deadlineMs: 900_000 });
    if (/ERR_PNPM_OUTDATED_LOCKFILE/.test(installed.output)) {
      throw new SetupError('A package.json names something that pnpm-lock.yaml does not have yet.', {
        Everywhere: `run \`npx -y ${PNPM} install\` and commit the lock file with the package.json`,
      });
    }
    if (!installed.ok) {
      throw new SetupError(`\`npx ${args.join(' ')}\` failed:\n${lastLines(installed.output, 12)}`, REMEDIES);
    }
    if (!existsSync(pinnedNode)) {
      throw new SetupError(`The packages are installed but the pinned Node is not at ${pinnedNode}.`, {
        Everywhere: 'delete node_modules and run this command again',
      });
    }
    await writeFile(STAMP, fingerprint);
    say('packages: ready');
  });
}

async function isInstalled(fingerprint) {
  const stamp = await readFile(STAMP, 'utf8').catch(() => '');
  return stamp === fingerprint && existsSync(pinnedNode);
}

async function readFingerprint() {
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'];
  for (const name of SINGLE_PACKAGES) files.push(join(name, 'package.json'));
  for (const folder of WORKSPACE_FOLDERS) {
    const names = await readdir(join(checkout, folder)).catch(() => []);
    for (const name of names.sort()) files.push(join(folder, name, 'package.json'));
  }
  // The platform too: a checkout shared with a container needs its own binaries.
  const hash = createHash('sha256').update(`${PNPM} ${process.platform} ${process.arch}`);
  for (const file of files) {
    const text = await readFile(join(checkout, file), 'utf8').catch(() => '');
    hash.update(`\0${file}\0${text}`);
  }
  return hash.digest('hex');
}
