import { homedir, tmpdir } from 'node:os';
import { safeEnvironment, type Environment } from './core/environment.js';
import type { LogLevel } from './core/ports.js';

/** The only reader of the process environment. Everything else is told. */
export const processEnvironment: Environment = process.env;

/** What the daemon takes from the environment it runs in. */
export interface HostFacts {
  readonly home: string;
  readonly xdgConfigHome: string | undefined;
  /** For children such as git. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where private folders may be made, best first. */
  readonly runtimeFolders: readonly string[];
  readonly logLevel: LogLevel;
}

export function readHost(root: string): HostFacts {
  const runtime = process.env['XDG_RUNTIME_DIR'];
  return {
    home: homedir(),
    xdgConfigHome: process.env['XDG_CONFIG_HOME'],
    environment: safeEnvironment(process.env, root),
    runtimeFolders: [...(runtime === undefined ? [] : [runtime]), tmpdir(), '/tmp'],
    logLevel: 'info',
  };
}

/** From here on no child of this process can inherit what is not allowed. */
export function dropUnsafeEnvironment(root: string): void {
  const safe = safeEnvironment(process.env, root);
  for (const name of Object.keys(process.env)) {
    if (!Object.hasOwn(safe, name)) Reflect.deleteProperty(process.env, name);
  }
  Object.assign(process.env, safe);
}

/** People who set NO_COLOR mean it, and so does a dumb terminal. */
export function wantsColour(stream: { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR: noColour, TERM: terminal } = process.env;
  return stream.isTTY === true && (noColour ?? '') === '' && terminal !== 'dumb';
}
