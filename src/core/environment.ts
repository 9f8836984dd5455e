import { delimiter, isAbsolute, normalize } from 'node:path';

/**
 * What a daemon and its children may see of the environment they were started from. An agent's
 * shell can carry anything (GIT_*, NODE_OPTIONS, LD_PRELOAD, proxies); an allow-list cannot forget one.
 */
const ALLOWED = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
  // Windows does not start programs without these.
  'SYSTEMROOT',
  'WINDIR',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'PATHEXT',
  'COMSPEC',
]);

export type Environment = Readonly<Record<string, string | undefined>>;

/** The allowed part; PATH loses entries that are relative or inside the project. */
export function safeEnvironment(from: Environment, root: string): Record<string, string> {
  const safe: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && ALLOWED.has(name.toUpperCase())) safe[name] = value;
  }
  for (const name of Object.keys(safe).filter((key) => key.toUpperCase() === 'PATH')) {
    safe[name] = safePath(safe[name] ?? '', root);
  }
  return safe;
}

/** A program named `git` inside a cloned repository must never be the one we start. */
function safePath(path: string, root: string): string {
  return path
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !`${normalize(entry)}/`.startsWith(`${root}/`))
    .join(delimiter);
}
