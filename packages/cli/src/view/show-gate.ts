import type { GateView } from '@cleanslate/contracts';
import type { Terminal } from '../terminal.ts';

/** What waits for a person, with the hash to decide by and the command that decides; a decided gate in one line. */
export function showGate({ out, style }: Terminal, taskId: string, gate: GateView): void {
  if (gate.decision !== null) {
    out(`  gate       ${gate.decision} by ${gate.by} at ${gate.decidedAt} (result ${gate.sha256})`);
    return;
  }
  const end = gate.onExpiry === 'approve' ? 'approved' : 'rejected';
  out(
    `  ${style('bold', 'gate')}       the result of ${gate.stepId} waits for a person; at ${gate.expiresAt} it is ${end}`,
  );
  out(`  hash       ${gate.sha256}`);
  out(`  decide     slate task approve|reject|edit ${taskId} --hash ${gate.sha256}`);
  out();
  out(JSON.stringify(gate.result, null, 2));
}
