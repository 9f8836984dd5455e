import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from '@jest/globals';
import { endProcessesOf, run, type Outcome, type RunOptions } from './processes.js';
import { RawSocket } from './raw-socket.js';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
export const CLI = join(REPOSITORY, 'dist/cli/main.js');

/** What `run/daemon.json` says. */
export interface DaemonInfo {
  readonly pid: number;
  readonly version: string;
  readonly protocol: number;
  readonly root: string;
  readonly socket: string;
  readonly started_at: string;
}

export interface Status {
  readonly pid: number;
  readonly root: string;
  readonly memory_bytes: number;
  readonly warnings: readonly string[];
}

/** A folder of its own for one test, and the command line called on it. */
export class Project {
  /** The temporary folder; the project's root is it or lies inside. */
  readonly folder: string;
  readonly root: string;
  readonly #sockets: RawSocket[] = [];

  constructor(folder: string, root = folder) {
    this.folder = folder;
    this.root = root;
  }

  path(...parts: string[]): string {
    return join(this.root, '.agentsmithy', ...parts);
  }

  cli(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return run([process.execPath, CLI, '--root', this.root, ...args], options);
  }

  /** Runs a command that must succeed with `--json` and gives its answer. */
  async json<T>(args: readonly string[], options: RunOptions = {}): Promise<T> {
    const { code, stdout, stderr } = await this.cli(['--json', ...args], options);
    if (code !== 0)
      throw new Error(`${args.join(' ')} ended with ${code ?? 'a signal'}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  startDaemon(options: RunOptions = {}): Promise<DaemonInfo & { readonly started: boolean }> {
    return this.json(['start'], options);
  }

  status(): Promise<Status> {
    return this.json(['status']);
  }

  /** Undefined when there is no daemon.json. */
  daemonFile(): DaemonInfo | undefined {
    const file = this.path('run/daemon.json');
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DaemonInfo) : undefined;
  }

  /** A raw connection to the running daemon, closed with the project. */
  async socket(): Promise<RawSocket> {
    const address = this.daemonFile()?.socket ?? this.path('run/smithyd.sock');
    const socket = await RawSocket.connect(address);
    this.#sockets.push(socket);
    return socket;
  }

  async remove(): Promise<void> {
    for (const socket of this.#sockets.splice(0)) socket.destroy();
    await endProcessesOf(this.root);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A fresh folder under the temporary one, under its real name. */
export function temporaryFolder(): string {
  return mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-test-'));
}

export function newProject(): Project {
  return new Project(temporaryFolder());
}

/** Gives each test as many projects as it asks for, and takes them away after it. */
export function projectsPerTest(): (make?: (folder: string) => string) => Project {
  const made: Project[] = [];
  afterEach(async () => {
    for (const project of made.splice(0)) await project.remove();
  });
  return (make = (folder) => folder) => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    const project = new Project(folder, make(folder));
    made.push(project);
    return project;
  };
}
