import { createLogger } from '@cleanslate/runtime';
import { linkFloor } from './floor-link.ts';
import { COMMANDS, connectFloor, decode, EVENTS, encode } from './floor-wire.ts';

// Takes a command, says that it is done, logs one line: the least a durable step can do.
const url = process.env['NATS_URL'] ?? '';
const link = await linkFloor(process.env['FLOOR_CLIENT'], await connectFloor(url), url);
const logger = createLogger({ service: 'floor-executor', level: 'info' });
link.take(COMMANDS, 100, (message) => {
  const command = decode(message.data);
  logger.info({ task: command.task, step: command.step }, 'step');
  void link.send(EVENTS, `${command.task}.${command.step}`, encode(command)).then(() => message.ack());
});
