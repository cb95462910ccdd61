import { existsSync } from 'node:fs';
import { isDebian } from './apt.mjs';
import { findOnPath, lastLines, runCommand } from './command.mjs';
import { SetupError, say } from './say.mjs';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const ELSEWHERE = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const REMEDIES = {
  'Debian/Ubuntu': 'as root: `apt-get install chromium`; or set CHROMIUM_PATH to a Chromium or Chrome',
  macOS: 'install Google Chrome, or set CHROMIUM_PATH to a Chromium',
  Docker: 'install chromium in the image, or set CHROMIUM_PATH',
};

/**
 * Finds the browser that the page is tested in, or installs Debian's. Returns the toolchain entry; throws `SetupError`.
 */
export async function provisionChromium({ env = process.env, isRoot = process.getuid?.() === 0 } = {}) {
  if (env.CHROMIUM_PATH) {
    if (existsSync(env.CHROMIUM_PATH)) return { kind: 'binary', path: env.CHROMIUM_PATH, why: 'CHROMIUM_PATH is set' };
    throw new SetupError(`CHROMIUM_PATH names ${env.CHROMIUM_PATH}, which is not there.`, REMEDIES);
  }
  const found = await findChromium(env.PATH);
  if (found) return { kind: 'binary', path: found, why: 'found on this machine' };
  if (!isRoot || !(await isDebian()))
    throw new SetupError('No Chromium was found for the tests of the page.', REMEDIES);
  say('Chromium: installing with apt-get (up to a minute, 300 MB)');
  await install(env);
  const installed = await findChromium(env.PATH);
  if (installed) return { kind: 'binary', path: installed, why: 'installed with apt-get' };
  throw new SetupError('chromium was installed, but is not on the PATH.', REMEDIES);
}

async function findChromium(path) {
  for (const program of PROGRAMS) {
    const found = await findOnPath(program, path);
    if (found) return found;
  }
  return ELSEWHERE.find((each) => existsSync(each));
}

async function install(given) {
  const env = { ...given, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  // A font too: a page without one has no width to be looked at.
  const args = ['install', '-y', '-q', '--no-install-recommends', 'chromium', 'fonts-liberation'];
  let installed = await runCommand('apt-get', args, { deadlineMs: 400_000, env });
  if (!installed.ok) {
    // A new machine has no package lists, or ones that name files the mirror no longer has.
    await runCommand('apt-get', ['update', '-q'], { deadlineMs: 240_000, env });
    installed = await runCommand('apt-get', args, { deadlineMs: 400_000, env });
  }
  if (!installed.ok)
    throw new SetupError(`\`apt-get install chromium\` failed:\n${lastLines(installed.output)}`, REMEDIES);
}
