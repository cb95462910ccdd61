import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findMirror, isDebian } from './apt.mjs';
import { buildOnce } from './cache.mjs';
import { findOnPath, lastLines, runCommand } from './command.mjs';
import { dockerAnswers, pullImage } from './docker.mjs';
import { SetupError, say } from './say.mjs';

const OLDEST_MAJOR = 16;
const IMAGE = 'timescale/timescaledb-ha:pg17';
const SUITE = 'trixie';
const MAJOR = 17;
const BIN_IN_ROOT = `/usr/lib/postgresql/${MAJOR}/bin`;
const READY_MARK = 'cleanslate-rootfs.json';

const REMEDIES = {
  'Debian/Ubuntu':
    'run as root on Debian 12 or later (the packages are fetched for you), or set DATABASE_URL to a PostgreSQL 17 with timescaledb and vector',
  macOS: 'start Docker Desktop, or set DATABASE_URL',
  Docker: 'start the Docker engine (`docker info` must answer); the image is pulled for you',
};

/**
 * Finds or builds a real PostgreSQL with TimescaleDB and pgvector. Returns the toolchain entry; throws `SetupError`.
 */
export async function provisionPostgres({ cache, env = process.env, isRoot = process.getuid?.() === 0 }) {
  const tried = [];
  if (env.DATABASE_URL) return { kind: 'url', why: 'DATABASE_URL is set' };

  const root = join(cache, `postgres-${MAJOR}-${SUITE}`);
  if (existsSync(root)) {
    if (isRoot) return describeRoot(root, `built earlier in ${root}`);
    tried.push(`${root} is there, but entering it needs root`);
  }

  const onPath = await inspectPathPostgres(env.PATH);
  if (onPath.usable)
    return {
      kind: 'binary',
      bin: onPath.bin,
      version: onPath.version,
      why: `PostgreSQL ${onPath.version} on the PATH has both extensions`,
    };
  tried.push(onPath.problem);

  if (await dockerAnswers()) {
    say(`Postgres: pulling ${IMAGE}`);
    const pulled = await pullImage(IMAGE);
    if (pulled.ok)
      return {
        kind: 'docker',
        image: IMAGE,
        version: String(MAJOR),
        why: `${tried.join('; ')}; the Docker engine answers`,
      };
    tried.push(`docker pull ${IMAGE} failed: ${lastLines(pulled.output, 1)}`);
  } else {
    tried.push('no Docker engine answers');
  }

  if (!isRoot) tried.push('not root, so the packages can not be unpacked into a root filesystem');
  else if (!(await isDebian())) tried.push('not a Debian system, so there are no packages to unpack');
  else {
    const mirror = await findMirror();
    if (mirror) {
      await buildOnce(root, (folder) => buildRoot(folder, mirror));
      return describeRoot(root, `${tried.join('; ')}; unpacked from Debian ${SUITE}`);
    }
    tried.push("this machine's apt names no Debian mirror");
  }
  throw new SetupError(
    `No PostgreSQL with TimescaleDB and pgvector could be found or fetched: ${tried.join('; ')}.`,
    REMEDIES,
  );
}

/** The embedded database comes with the packages, so there is nothing to fetch. */
export function chooseEmbedded(env = process.env) {
  if (env.DATABASE_URL) return { kind: 'url', why: 'DATABASE_URL is set' };
  return { kind: 'embedded', why: 'needs no root, no Docker and no minutes; set DATABASE_URL for a real server' };
}

async function describeRoot(root, why) {
  const { version } = JSON.parse(await readFile(join(root, READY_MARK), 'utf8'));
  return { kind: 'rootfs', root, bin: BIN_IN_ROOT, version, why };
}

async function buildRoot(folder, mirror) {
  await ensureMmdebstrap();
  say(
    `Postgres: unpacking PostgreSQL ${MAJOR}, TimescaleDB and pgvector of Debian ${SUITE} (up to two minutes, 520 MB)`,
  );
  const include = `--include=postgresql-${MAJOR}-timescaledb,postgresql-${MAJOR}-pgvector`;
  const args = ['--variant=essential', include, '--aptopt=Acquire::Retries "2"', SUITE, folder, mirror];
  const [program, ...prefix] = [...(await findKeeper()), 'mmdebstrap'];
  const built = await runCommand(program, [...prefix, ...args], { deadlineMs: 900_000 });
  if (!built.ok) throw new SetupError(`mmdebstrap failed:\n${lastLines(built.output)}`, REMEDIES);
  const probe = await runCommand('chroot', [folder, `${BIN_IN_ROOT}/postgres`, '--version'], { deadlineMs: 20_000 });
  const version = /(\d+(?:\.\d+)+)/.exec(probe.stdout)?.[1];
  if (!version) throw new SetupError(`The unpacked PostgreSQL does not start:\n${lastLines(probe.output)}`, REMEDIES);
  await writeFile(join(folder, READY_MARK), `${JSON.stringify({ version, suite: SUITE })}\n`);
}

/**
 * What keeps mmdebstrap from outliving us: left alone it would go on, with /proc and /sys mounted in a folder that the
 * next set-up wants to remove. In namespaces of its own its processes and mounts end with the first of them, and that
 * one ends with us. Where namespaces are not allowed it runs without.
 */
async function findKeeper() {
  const keeper = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child=KILL'];
  const [program, ...args] = [...keeper, 'true'];
  return (await runCommand(program, args, { deadlineMs: 10_000 })).ok ? keeper : [];
}

async function ensureMmdebstrap() {
  if (await findOnPath('mmdebstrap')) return;
  say('Postgres: installing mmdebstrap with apt-get');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const install = () =>
    runCommand('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'mmdebstrap'], {
      deadlineMs: 300_000,
      env,
    });
  let installed = await install();
  if (!installed.ok) {
    // A new machine has no package lists, or ones that name files the mirror no longer has.
    await runCommand('apt-get', ['update', '-q'], { deadlineMs: 240_000, env });
    installed = await install();
  }
  if (!installed.ok)
    throw new SetupError(`\`apt-get install mmdebstrap\` failed:\n${lastLines(installed.output)}`, REMEDIES);
}

async function inspectPathPostgres(path) {
  const pgConfig = await findOnPath('pg_config', path);
  const postgres = await findOnPath('postgres', path);
  if (!postgres) return { problem: 'no postgres on the PATH' };
  if (!pgConfig) return { problem: `${postgres} has no pg_config beside it, so its extensions are unknown` };
  const { stdout } = await runCommand(pgConfig, ['--bindir', '--sharedir', '--version'], { deadlineMs: 10_000 });
  const [bin, share, versionLine = ''] = stdout.trim().split('\n');
  const version = /(\d+(?:\.\d+)*)/.exec(versionLine)?.[1] ?? '0';
  if (Number.parseInt(version, 10) < OLDEST_MAJOR)
    return { problem: `PostgreSQL ${version} on the PATH is older than ${OLDEST_MAJOR}` };
  const missing = ['timescaledb', 'vector'].filter((name) => !existsSync(join(share, 'extension', `${name}.control`)));
  if (missing.length > 0) return { problem: `PostgreSQL ${version} on the PATH lacks ${missing.join(' and ')}` };
  return { usable: true, bin, version };
}
