import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lastLines, runCommand } from './command.mjs';
import { SetupError } from './say.mjs';

/** True on Debian itself; its derivatives' mirrors do not carry Debian's suites. */
export async function isDebian() {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return /^ID=debian$/m.test(release) && existsSync('/usr/bin/apt-get');
}

/** The address of the main Debian mirror in this machine's own apt set-up, or undefined. */
export async function findMirror() {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1] ?? 'sid';
  // --print-uris asks no network and, unlike `indextargets`, answers before the first `apt-get update`.
  const { stdout } = await runCommand('apt-get', ['update', '--print-uris'], { deadlineMs: 30_000 });
  // Vendors' repositories use the code name too; only Debian's own mirror has its `-updates` beside it.
  for (const suite of [`${codename}-updates`, codename]) {
    const match = new RegExp(`^'([^']+?)/*/dists/${suite}/(?:In)?Release'`, 'm').exec(stdout);
    if (match) return match[1];
  }
  return undefined;
}

/**
 * Downloads one package of another suite and unpacks it into `folder`, without root and without touching the
 * machine's own package lists: apt gets a configuration, a sources list and state folders of its own.
 */
export async function unpackFromSuite({ suite, packageName, mirror, folder, workFolder }) {
  const configFile = await writeAptConfig(workFolder, suite, mirror);
  const env = { ...process.env, APT_CONFIG: configFile, LC_ALL: 'C' };
  const steps = [
    { program: 'apt-get', args: ['update', '-q'], deadlineMs: 240_000 },
    { program: 'apt-get', args: ['download', '-q', packageName], deadlineMs: 240_000 },
    { program: 'sh', args: ['-c', `dpkg -x ./${packageName}_*.deb "$0"`, folder], deadlineMs: 60_000 },
  ];
  for (const { program, args, deadlineMs } of steps) {
    const result = await runCommand(program, args, { cwd: workFolder, env, deadlineMs });
    if (!result.ok) {
      throw new SetupError(
        `\`${program} ${args.join(' ')}\` for ${packageName} (${suite}) failed:\n${lastLines(result.output)}`,
      );
    }
  }
}

async function writeAptConfig(workFolder, suite, mirror) {
  for (const name of ['lists/partial', 'archives/partial', 'parts', 'log']) {
    await mkdir(join(workFolder, name), { recursive: true });
  }
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  const signedBy = existsSync(keyring) ? `[signed-by=${keyring}] ` : '';
  await writeFile(join(workFolder, 'sources.list'), `deb ${signedBy}${mirror} ${suite} main\n`);
  await writeFile(join(workFolder, 'status'), '');
  const configFile = join(workFolder, 'apt.conf');
  const at = (name) => join(workFolder, name);
  await writeFile(
    configFile,
    [
      `Dir::State::lists "${at('lists')}";`,
      `Dir::State::status "${at('status')}";`,
      `Dir::Cache "${workFolder}";`,
      `Dir::Cache::archives "${at('archives')}";`,
      `Dir::Log "${at('log')}";`,
      `Dir::Etc::SourceList "${at('sources.list')}";`,
      `Dir::Etc::SourceParts "${at('parts')}";`,
      // Downloads stay with the user who runs the set-up: apt's own user can't write under a private cache folder.
      'APT::Sandbox::User "";',
      'Acquire::Languages "none";',
      'Acquire::Retries "2";',
      '',
    ].join('\n'),
  );
  return configFile;
}
