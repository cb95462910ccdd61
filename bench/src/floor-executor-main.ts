import { Publisher, PullLoop } from '@cleanslate/bus';
import { createLogger } from '@cleanslate/runtime';
import { COMMANDS, connectFloor, decode, EVENTS, encode } from './floor-wire.ts';

// Takes a command, says that it is done, logs one line: the least a durable step can do.
const bus = await connectFloor(process.env['NATS_URL'] ?? '');
const logger = createLogger({ service: 'floor-executor', level: 'info' });
const publisher = new Publisher(bus, { window: 200 });
const loop = new PullLoop(bus, {
  stream: COMMANDS.stream,
  durable: COMMANDS.durable,
  slots: 100,
  onMessage: (message) => {
    const command = decode(message.data);
    logger.info({ task: command.task, step: command.step }, 'step');
    const publication = {
      stream: EVENTS.stream,
      subject: EVENTS.subject,
      messageId: `${command.task}.${command.step}`,
      body: encode(command),
    };
    void publisher.publish(publication).then(() => message.ack());
  },
});
loop.start();
