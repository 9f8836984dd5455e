import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI, projectsPerTest, type Project } from './daemon-project.js';
import { isAlive, plainEnvironment, signal } from './processes.js';
import { until } from './until.js';
import { Work } from './work.js';

const SHIFTED_CLOCK = new URL('../fixtures/shifted-clock.mjs', import.meta.url).pathname;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** A project whose daemon believes that as many days have gone by as we say. */
export class Aging {
  readonly project: Project;
  readonly #offset: string;

  constructor(project: Project) {
    this.project = project;
    this.#offset = join(project.folder, 'offset');
    this.pass(0);
  }

  /** Since the beginning. */
  pass(days: number): void {
    writeFileSync(this.#offset, String(days * DAY_MS));
  }

  async start(): Promise<Work> {
    const { project } = this;
    const words = ['--import', SHIFTED_CLOCK, CLI, '--root', project.root, 'start', '--foreground'];
    const env = plainEnvironment({ CLOCK_OFFSET_FILE: this.#offset });
    const { pid } = spawn(process.execPath, words, { env, stdio: 'ignore' });
    await until('the daemon answers', () => project.daemonFile()?.pid === pid);
    return new Work(project, await project.socket());
  }

  async end(how: NodeJS.Signals): Promise<void> {
    const pid = this.project.daemonFile()?.pid ?? 0;
    signal(pid, how);
    await until('the daemon has ended', () => !isAlive(pid));
  }
}

/** Gives each test its own, and takes it away after it. */
export function agingPerTest(): () => Aging {
  const projects = projectsPerTest();
  const make = (folder: string): string => {
    const root = join(folder, 'project');
    mkdirSync(root);
    return root;
  };
  return () => new Aging(projects(make));
}
