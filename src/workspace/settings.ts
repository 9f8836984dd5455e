import type { Config } from '../core/config.js';
import { SmithyError } from '../core/errors.js';
import type { SettingsFile } from '../core/ports.js';
import type { Problem } from '../core/schema-problems.js';
import { isRecord } from '../core/is-record.js';
import { readSettings, updateSettings, type RawSettings } from '../core/settings.js';
import type { EventStream } from './event-stream.js';
import { createQueue } from '../core/queue.js';

/** The project's configuration while the daemon runs. */
export interface LiveSettings {
  config(): Config;
  /** What in the file is not understood; those entries keep their defaults. */
  problems(): readonly Problem[];
  /** Durable, then in effect, then announced. */
  update(patch: RawSettings): Promise<Config>;
  /** Somebody edited the file by hand. */
  reload(): Promise<Config>;
  /** Runs before a change is answered or announced, so that it is in effect by then. */
  onChange(apply: (config: Config) => Promise<void>): void;
}

export function createSettings(file: SettingsFile, events: EventStream): LiveSettings {
  const queue = createQueue();
  const appliers: ((config: Config) => Promise<void>)[] = [];
  let settings = readSettings(file.read());

  async function adopt(next: typeof settings): Promise<Config> {
    const keys = changedKeys(settings.config, next.config);
    settings = next;
    if (keys.length === 0) return next.config;
    for (const apply of appliers) await apply(next.config);
    events.publish({ type: 'config_changed', keys });
    return next.config;
  }

  return {
    config: () => settings.config,
    problems: () => settings.problems,
    update: (patch) =>
      queue.run(() => {
        // As it is now: somebody may have edited it a moment ago.
        const present = file.read();
        if (!isRecord(present)) throw unreadable(file.path);
        const next = updateSettings(present, patch);
        // Durable first: an answer must not name a setting that a crash takes back.
        file.write(next.raw);
        return adopt(next);
      }),
    reload: () => queue.run(() => adopt(readSettings(file.read()))),
    onChange: (apply) => void appliers.push(apply),
  };
}

/** What a person wrote there is theirs to mend; a new file in its place would be their loss. */
function unreadable(path: string): SmithyError {
  const message = `${path} does not hold a JSON object; nothing was changed.`;
  return new SmithyError('STORE_CORRUPT', message, {
    hint: 'Mend config.json by hand, or move it away, and try again.',
    data: { path },
  });
}

function changedKeys(before: Config, after: Config): string[] {
  return Object.entries(after)
    .filter(([key, value]) => {
      return JSON.stringify(value) !== JSON.stringify(before[key as keyof Config]);
    })
    .map(([key]) => key);
}
