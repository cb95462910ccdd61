import { type Bus, connectBus } from '@cleanslate/bus';
import { z } from 'zod';

/** The floor's whole protocol: four commands and four events a task. */
const FloorMessage = z.strictObject({
  task: z.string().min(1),
  step: z.int().min(1).max(4),
  padding: z.string().max(1_000),
});
export type FloorMessage = z.infer<typeof FloorMessage>;

export const STEPS = 4;
export const COMMANDS = { stream: 'FLOOR_COMMANDS', subject: 'floor.command', durable: 'executor' } as const;
export const EVENTS = { stream: 'FLOOR_EVENTS', subject: 'floor.event', durable: 'scheduler' } as const;
/** Request `{ tasks }` to the floor's scheduler; answered when all of them have ended. */
export const RUN = 'floor.run';

const decoder = new TextDecoder();

export function encode(message: FloorMessage): Uint8Array {
  return Buffer.from(JSON.stringify(message));
}

export function decode(bytes: Uint8Array): FloorMessage {
  return FloorMessage.parse(JSON.parse(decoder.decode(bytes)));
}

/** The floor's broker asks for no credentials. */
export function connectFloor(url: string): Promise<Bus> {
  return connectBus({ servers: url, principal: { kind: 'admin' }, waitOnFirstConnectMs: 10_000 });
}
