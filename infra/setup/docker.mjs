import { findOnPath, runCommand } from './command.mjs';

let answer;

/** Whether a Docker engine answers; a docker program alone proves nothing. Asked once per run. */
export async function dockerAnswers() {
  answer ??= (async () => {
    if (!(await findOnPath('docker'))) return false;
    const info = await runCommand('docker', ['info', '--format', '{{.ServerVersion}}'], { deadlineMs: 10_000 });
    return info.ok && /^\d/.test(info.stdout.trim());
  })();
  return answer;
}

/** Pulls an image unless the engine already has it. */
export async function pullImage(image) {
  const present = await runCommand('docker', ['image', 'inspect', image], { deadlineMs: 20_000 });
  return present.ok ? present : runCommand('docker', ['pull', '--quiet', image], { deadlineMs: 480_000 });
}
