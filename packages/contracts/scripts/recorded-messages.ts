import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../fixtures/recorded');

/** One message as it was written on the day its version was made. `name` is the file's, without `.json`. */
export type RecordedMessage = { readonly name: string; readonly type: string; readonly bytes: Uint8Array };

/**
 * Every recorded message by file name: `<type>.json`, and `<type>.<variant>.json` where one type has several shapes.
 */
export function readRecordedMessages(): readonly RecordedMessage[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      const name = file.slice(0, -'.json'.length);
      return { name, type: /^.*\.v\d+/.exec(name)?.[0] ?? name, bytes: readFileSync(join(folder, file)) };
    });
}
