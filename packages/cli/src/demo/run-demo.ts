import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Client, connect } from '@cleanslate/client';
import { DocumentInput, type TaskView } from '@cleanslate/contracts';
import { ContractReport } from '@cleanslate/workflows';
import type { CommandContext } from '../context.ts';
import { readPolicySet } from '../input/read-policy-set.ts';
import { readSubmitInput } from '../input/read-submit-input.ts';
import { inputError } from '../input-error.ts';
import { type Stack, startStack } from '../stack/start-stack.ts';
import { followTask } from '../view/follow-task.ts';
import { makeDemoHome } from './demo-home.ts';
import { type EvidenceLink, traceEvidence } from './evidence.ts';
import { type DemoLanguage, guessLanguage, sampleContract, samplePolicies } from './samples.ts';

const DEMO_TENANT = 'demo';

export type DemoOptions = { readonly input?: string; readonly lang?: DemoLanguage };

export type DemoOutcome = {
  readonly task: TaskView;
  readonly report: ContractReport | undefined;
  readonly evidence: readonly EvidenceLink[];
  readonly timings: Readonly<Record<'stackMs' | 'importMs' | 'taskMs' | 'totalMs', number>>;
  /** The demo's state, if it was kept. */
  readonly home: string | undefined;
};

/** A whole stack of its own, one contract review from submit to validated report, then everything is stopped. */
export async function runDemo(context: CommandContext, options: DemoOptions): Promise<DemoOutcome> {
  const { terminal, signal } = context;
  const begun = performance.now();
  // Bad input is found before anything starts.
  const { input, language } = await readContract(context, options);
  const policies = await readPolicySet(samplePolicies(language));
  const { home, lock, kept } = await makeDemoHome(context.home.root);
  terminal.note('Starting a broker, a database and eight services …');
  const say = (line: string) => terminal.note(`  ${line}`);
  signal.addEventListener('abort', () => terminal.note('Stopping …'), { once: true });
  const stack = await startStack({ home, config: context.config, tenants: [DEMO_TENANT], lock, say, signal });
  const stackMs = performance.now() - begun;
  try {
    await using client = await connectDemo(stack);
    const imported = performance.now();
    const { revision } = await client.facts.import(policies);
    const importMs = performance.now() - imported;
    terminal.note(
      `Imported ${policies.facts.length} policy facts of ${policies.sourceRef}: knowledge is at revision ${revision}`,
    );
    const submitted = performance.now();
    const { taskId } = await client.submit({ workflow: 'contract-review', input }, { signal });
    terminal.note(`Submitted ${input.document.name} as task ${taskId}`);
    const task = await followTask(client, terminal, { taskId, signal, show: 'lines' });
    const taskMs = performance.now() - submitted;
    const report = ContractReport.safeParse(task.result).data;
    const evidence = report ? await traceEvidence(client, task, report) : [];
    const totalMs = performance.now() - begun;
    const timings = roundAll({ stackMs, importMs, taskMs, totalMs });
    return { task, report, evidence, timings, home: kept ? home.root : undefined };
  } finally {
    await stack.stop();
    if (!kept) await rm(home.root, { recursive: true, force: true });
  }
}

async function readContract({ env }: CommandContext, options: DemoOptions) {
  // `npm run demo` changes to the checkout; a relative path means the folder its user is in.
  const given =
    options.input === undefined || options.input === '-'
      ? options.input
      : resolve(env['INIT_CWD'] ?? '.', options.input);
  const file = given ?? sampleContract(options.lang ?? 'en');
  const parsed = DocumentInput.safeParse((await readSubmitInput(file))['document']);
  if (!parsed.success) {
    const what = `${file} holds no document`;
    throw inputError({ what, where: '--input', remedy: 'name a contract as .txt or .md in UTF-8' });
  }
  const document = parsed.data;
  return { input: { document }, language: options.lang ?? guessLanguage(document.text) };
}

async function connectDemo(stack: Stack): Promise<Client> {
  const { user, password } = stack.loginOf(`tenant-${DEMO_TENANT}`);
  return await connect({ servers: stack.describe().natsUrl, tenant: DEMO_TENANT, user, password, name: 'demo' });
}

function roundAll<K extends string>(times: Record<K, number>): Record<K, number> {
  const entries = Object.entries<number>(times).map(([name, ms]) => [name, Math.round(ms)]);
  return Object.fromEntries(entries) as Record<K, number>;
}
