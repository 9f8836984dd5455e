import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { plainEnvironment, run } from '../support/processes.js';

const newProject = projectsPerTest();
const AGENTS = [
  ...['claude-code', 'codex', 'gemini', 'cursor', 'cline'],
  ...['opencode', 'vscode', 'aider', 'shell', 'agents-md'],
];

/** Every path below a folder with what it holds. */
function everythingIn(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      if (entry.isSymbolicLink()) return [path, readlinkSync(path)];
      return [path, entry.isFile() ? readFileSync(path, 'base64') : 'no file'];
    }),
  );
}

describe('taking it out again', () => {
  it('leaves the project, its repository and the home folder as they were', async () => {
    const project = newProject((folder) => {
      for (const name of ['home', 'root']) mkdirSync(join(folder, name));
      return join(folder, 'root');
    });
    const home = join(project.folder, 'home');
    const env = { ...plainEnvironment(), HOME: home };
    const git = (...args: string[]) => run(['git', ...args], { cwd: project.root, env });
    await git('init', '-q');
    writeFileSync(join(project.root, 'AGENTS.md'), '# Ours\n');
    await git('add', '.');
    const before = everythingIn(project.folder);
    const smithyd = async (...args: string[]): Promise<void> => {
      const { code, stderr } = await project.cli(args, { env });
      expect([args.join(' '), code, stderr]).toEqual([args.join(' '), 0, '']);
    };

    await smithyd('start');
    await smithyd('message', 'Hello');
    await smithyd('hooks', 'install');
    for (const agent of AGENTS) await smithyd('setup', agent, '--yes');
    expect(everythingIn(project.folder)).not.toEqual(before);

    // As the README says it.
    for (const agent of AGENTS.toReversed()) await smithyd('setup', agent, '--undo', '--yes');
    await smithyd('hooks', 'uninstall');
    await smithyd('stop');
    rmSync(project.path(), { recursive: true });
    expect(everythingIn(project.folder)).toEqual(before);
  });
});
