import type { Terminal } from '../terminal.ts';
import { formatDuration } from '../view/duration.ts';
import { cutTo } from '../view/table.ts';
import type { EvidenceLink } from './evidence.ts';
import type { DemoOutcome } from './run-demo.ts';

/** The report, what each finding rests on, and how to look further. */
export function printDemo(terminal: Terminal, { task, report, evidence, timings, home }: DemoOutcome): void {
  const { out, style } = terminal;
  out();
  if (report) {
    for (const line of report.markdown.trimEnd().split('\n')) out(line.startsWith('#') ? style('bold', line) : line);
    out();
    out(style('bold', '## What each finding rests on'));
    for (const [index, link] of evidence.entries()) printLink(terminal, index + 1, link);
  } else {
    out(`${style('red', 'The review failed')}: ${task.error?.code ?? task.state} ${task.error?.message ?? ''}`);
  }
  out();
  const { stackMs, taskMs, totalMs } = timings;
  out(
    `The stack took ${formatDuration(stackMs)} to start, the review ${formatDuration(taskMs)}; ${formatDuration(totalMs)} in all.`,
  );
  if (home === undefined) return;
  out();
  out(`${style('bold', 'Look further')} (tasks, facts and log of this run are kept until the next demo):`);
  out(`  export CLEANSLATE_HOME='${home}'`);
  out('  npx slate up --detach');
  out(`  npx slate task show ${task.taskId}`);
  const [first] = evidence;
  if (first) out(`  npx slate fact history ${first.policy.slice(0, first.policy.lastIndexOf('@'))}`);
  out('  npx slate submit contract-review --input YOUR-CONTRACT.md --watch');
  out('  npx slate down');
}

function printLink({ out, style, width }: Terminal, number: number, link: EvidenceLink): void {
  const where = link.span === null ? 'nowhere in the document' : `characters ${link.span.start}–${link.span.end}`;
  out(`${number}. ${link.severity} ${link.clause}`);
  out(`   document   ${where}${link.quote === '' ? '' : `: “${cutTo(link.quote, width - 40)}”`}`);
  out(`   ${style('cyan', 'fact')}       ${link.policy}: ${cutTo(link.statement, width - 30)}`);
  out(`              valid ${link.validFrom?.slice(0, 10) ?? 'always'} – ${link.validUntil?.slice(0, 10) ?? 'open'}`);
  out(`   source     ${link.sourceRef} (${link.sourceType}), known since revision ${link.revision}`);
}
