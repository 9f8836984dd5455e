import type { Config } from '../core/config.js';
import type { SettingsFile } from '../core/ports.js';
import type { Problem } from '../core/schema-problems.js';
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
        const next = updateSettings(settings.raw, patch);
        // Durable first: an answer must not name a setting that a crash takes back.
        file.write(next.raw);
        return adopt(next);
      }),
    reload: () => queue.run(() => adopt(readSettings(file.read()))),
    onChange: (apply) => void appliers.push(apply),
  };
}

function changedKeys(before: Config, after: Config): string[] {
  return Object.entries(after)
    .filter(([key, value]) => {
      return JSON.stringify(value) !== JSON.stringify(before[key as keyof Config]);
    })
    .map(([key]) => key);
}
