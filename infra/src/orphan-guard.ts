import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Ends our children when this process dies, however it dies. A small shell holds the read end of a pipe of ours: the
 * kernel closes it even after SIGKILL, and the shell then signals every pid it was told of. (Linux' parent-death
 * signal would do, but macOS has none.) Each pid has its own first signal, since Postgres' SIGTERM waits for clients.
 */
const SCRIPT = `
watched=""
while read -r operation pid signal; do
  case "$operation" in
    watch) watched="$watched $pid:$signal" ;;
    forget) kept=""; for entry in $watched; do [ "\${entry%%:*}" = "$pid" ] || kept="$kept $entry"; done; watched="$kept" ;;
  esac
done
for entry in $watched; do kill -s "\${entry#*:}" "\${entry%%:*}" 2>/dev/null; kill -s CONT "\${entry%%:*}" 2>/dev/null; done
waited=0
while [ "$waited" -lt 50 ]; do
  alive=""
  for entry in $watched; do kill -0 "\${entry%%:*}" 2>/dev/null && alive=yes; done
  [ -z "$alive" ] && exit 0
  sleep 0.1; waited=$((waited + 1))
done
for entry in $watched; do kill -s KILL "\${entry%%:*}" 2>/dev/null; done
`;

let guard: ChildProcess | undefined;

/** From now on `pid` gets `signal`, and SIGKILL 5 s later, once this process is gone. */
export function watchOrphan(pid: number, signal: 'TERM' | 'INT' | 'QUIT' | 'KILL'): void {
  tellGuard(`watch ${pid} ${signal}`);
}

/** To be called as soon as a watched process has ended, before the system gives its pid to another. */
export function forgetOrphan(pid: number): void {
  tellGuard(`forget ${pid}`);
}

function tellGuard(line: string): void {
  if (guard === undefined || guard.exitCode !== null || guard.signalCode !== null) guard = startGuard();
  guard.stdin?.write(`${line}\n`);
}

function startGuard(): ChildProcess {
  // Detached: a ^C in the terminal must not end the guard before it has done its work.
  const shell = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as unknown as { unref?: () => void }).unref?.();
  return shell;
}
