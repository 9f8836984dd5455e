import { Config } from './config.js';
import { SmithyError } from './errors.js';
import { isRecord } from './is-record.js';
import { describeProblems, hintOf, problemsOf, type Problem } from './schema-problems.js';

/** What the configuration file says, before defaults. */
export type RawSettings = Readonly<Record<string, unknown>>;

export interface Settings {
  readonly raw: RawSettings;
  readonly config: Config;
  readonly problems: readonly Problem[];
}

/**
 * The effective configuration of a file. The file may come with a cloned repository, so a bad
 * entry neither stops the daemon nor half applies: it keeps its default and is reported.
 */
export function readSettings(raw: unknown): Settings {
  if (!isRecord(raw)) {
    const problem = { path: '', message: 'the file does not hold a JSON object' };
    return { raw: {}, config: Config.parse({}), problems: [problem] };
  }
  const parsed = Config.safeParse(raw);
  if (parsed.success) return { raw, config: parsed.data, problems: [] };
  return {
    raw,
    config: Config.parse(soundParts(raw)),
    problems: problemsOf(Config, parsed.error),
  };
}

/** One wrong member of a group leaves the others what they are. */
function soundParts(raw: RawSettings): RawSettings {
  const isSound = (part: RawSettings): boolean => Config.safeParse(part).success;
  const sound: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(raw)) {
    if (!Object.hasOwn(Config.shape, key)) continue;
    if (isSound({ [key]: value })) sound[key] = value;
    else if (isRecord(value)) {
      const members = Object.entries(value);
      const kept = members.filter(([name, one]) => isSound({ [key]: { [name]: one } }));
      if (isSound({ [key]: Object.fromEntries(kept) })) sound[key] = Object.fromEntries(kept);
    }
  }
  return sound;
}

/** Merges a partial update: groups key by key, lists and scalars whole. */
export function updateSettings(raw: RawSettings, patch: RawSettings): Settings {
  // Only the patch is judged: an old mistake in the file must not block every later change.
  const parsed = Config.safeParse(patch);
  if (!parsed.success) throw invalidSettings(problemsOf(Config, parsed.error));
  const merged: Record<string, unknown> = { ...raw };
  for (const [key, value] of Object.entries(patch)) {
    const present = merged[key];
    merged[key] = isRecord(value) && isRecord(present) ? { ...present, ...value } : value;
  }
  return readSettings(merged);
}

function invalidSettings(problems: readonly Problem[]): SmithyError {
  return new SmithyError('INVALID_PARAMS', `Bad configuration: ${describeProblems(problems)}.`, {
    hint: hintOf(problems) ?? 'Run `smithyd config get` to see every setting.',
    data: { issues: problems },
  });
}
