// Submits a contract review and watches it with nothing but a NATS client and the published schemas (docs/schemas).
// Start a stack first: npx slate up --detach
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from '@nats-io/transport-node';

const home = process.env.CLEANSLATE_HOME ?? '.cleanslate';
const { natsUrl } = JSON.parse(readFileSync(`${home}/stack.json`, 'utf8'));
const { nats: passwords } = JSON.parse(readFileSync(`${home}/credentials.json`, 'utf8'));
const file = process.argv[2] ?? 'infra/samples/contract-en.md';

// A tenant has one user, its own inbox prefix, and no right to anything of another tenant.
const nc = await connect({
  servers: natsUrl,
  user: 'tenant-demo',
  pass: passwords['tenant-demo'],
  inboxPrefix: '_INBOX_tenant-demo',
});
const taskId = randomUUID();
const submit = {
  specversion: '1.0',
  id: randomUUID(),
  source: '/tenants/demo/stock-client',
  type: 'task.submit.v1',
  time: new Date().toISOString(),
  datacontenttype: 'application/json',
  tenantid: 'demo',
  taskid: taskId,
  data: {
    workflow: 'contract-review',
    input: { document: { name: file, mediaType: 'text/markdown', text: readFileSync(file, 'utf8') } },
  },
};

const events = nc.subscribe(`evt.task.demo.${taskId}`);
await nc.flush();
// Asking a stream's subject answers with the PubAck: the submit is stored. Accepted is what
// the event says, after commit.
const stored = await nc.request('cmd.task.demo', JSON.stringify(submit), { timeout: 5_000 });
console.log('stored   ', stored.string());
for await (const message of events) {
  const event = message.json();
  const { to, on, result, error } = event.data;
  console.log(event.type.padEnd(22), event.stepid ?? '', to ?? '', on ?? '', error?.message ?? '');
  if (event.type === 'submit.refused.v1' || to === 'failed') process.exitCode = 1;
  if (event.type === 'task.transitioned.v1' && to === 'completed') console.log(`${result.findings.length} findings`);
  if (
    event.type === 'submit.refused.v1' ||
    (event.type === 'task.transitioned.v1' && ['completed', 'failed'].includes(to))
  )
    break;
}
await nc.close();
