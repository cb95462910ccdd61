import { z } from 'zod';
import { Envelope } from '../envelope.ts';
import { type MessageDefinition, schemaUrn, typeOf } from '../message.ts';

/** Draft 2020-12 schema of the whole envelope with this type's `data`. */
export function toMessageSchema(definition: MessageDefinition, examples: readonly unknown[] = []): object {
  const type = typeOf(definition);
  const schema = Envelope.extend({
    type: z.literal(type),
    dataschema: z.literal(schemaUrn(type)).optional(),
    data: definition.data,
  });
  // What a sender must satisfy (`input`): extension attributes that the envelope doesn't know stay allowed, as
  // CloudEvents requires. A schema that JSON Schema cannot express stops the generator instead of being published as
  // "anything". Refinements are not shown; no message has one.
  const { $schema, ...body } = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'throw',
  });
  return { $schema, $id: schemaUrn(type), title: type, ...body, examples };
}
