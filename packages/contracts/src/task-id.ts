import { createHash } from 'node:crypto';

/** Namespace of task ids that follow from a key. Part of the wire contract: clients in other languages use it too. */
const TASK_NAMESPACE = '5c1f6a52-3f0e-5b7c-9d0a-6e1b8f4c2d37';

/**
 * Default task id of a submit with a key: UUIDv5 over `<tenant>/<key>`. (A tenant id contains no slash, so no two pairs
 * collide.)
 */
export function taskIdFromKey(tenantId: string, key: string): string {
  return uuidV5(TASK_NAMESPACE, `${tenantId}/${key}`);
}

function uuidV5(namespace: string, name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest();
  const bytes = hash.subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
