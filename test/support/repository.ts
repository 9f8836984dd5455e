import {
  mkdirSync,
  writeFileSync,
  chmodSync,
  lstatSync,
  readFileSync,
  readdirSync,
  readlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { run, type Outcome, type RunOptions } from './processes.js';

const WHO = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Somebody',
  GIT_AUTHOR_EMAIL: 'somebody@example.org',
  GIT_COMMITTER_NAME: 'Somebody',
  GIT_COMMITTER_EMAIL: 'somebody@example.org',
};

/** The user's own git in a folder, hooks and all. */
export class Repository {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  static async make(folder: string): Promise<Repository> {
    const repository = new Repository(folder);
    await repository.git(['init', '-q', '-b', 'main']);
    return repository;
  }

  at(path: string): string {
    return join(this.folder, path);
  }

  write(path: string, content: string, mode = 0o644): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), content);
    chmodSync(this.at(path), mode);
  }

  /** Whatever comes of it. */
  try(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return run(['git', ...args], { cwd: this.folder, ...options, env: { ...WHO, ...options.env } });
  }

  async git(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.try(args, options);
    if (code !== 0)
      throw new Error(`git ${args.join(' ')} ended with ${code ?? 'a signal'}: ${stderr}`);
    return stdout;
  }

  /** A new content of a file, and the commit of it. */
  async commit(content: string, options: RunOptions = {}): Promise<void> {
    this.write('a.txt', content);
    await this.git(['add', 'a.txt'], options);
    await this.git(['commit', '-qm', content], options);
  }

  /** Every file of a folder with its mode and bytes. */
  files(folder: string): Readonly<Record<string, string>> {
    const names = readdirSync(this.at(folder)).sort();
    return Object.fromEntries(
      names.map((name) => {
        const path = this.at(join(folder, name));
        const stat = lstatSync(path);
        if (stat.isSymbolicLink()) return [name, `link ${readlinkSync(path)}`];
        if (stat.isDirectory()) return [name, 'folder'];
        return [name, `${(stat.mode & 0o777).toString(8)} ${readFileSync(path, 'latin1')}`];
      }),
    );
  }
}
