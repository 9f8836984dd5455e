import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { createTreeWriter } from '../../src/files/tree-writer.js';
import { until } from '../support/until.js';
import { createProject, stepsBetween, told } from './project.js';
import type { Project } from './project.js';

const isRoot = process.getuid?.() === 0;

let project: Project;
beforeEach(() => {
  project = createProject();
});
afterEach(() => project.remove());

const ran = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

/** Tries on a scratch folder whether the system lets us do what the test needs. */
function permits(attempt: (scratch: string) => boolean): boolean {
  const scratch = mkdtempSync(join(tmpdir(), 'smithyd-probe-'));
  try {
    return attempt(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const canMakeImmutable = permits((scratch) => {
  writeFileSync(join(scratch, 'x'), '');
  return ran('chattr', '+i', join(scratch, 'x')) && ran('chattr', '-i', join(scratch, 'x'));
});
const canMount = permits(
  (scratch) => ran('mount', '-t', 'tmpfs', 'none', scratch) && ran('umount', scratch),
);
const canBeNobody = isRoot && ran('setpriv', ...asNobody(), process.execPath, '-e', '0');

function asNobody(): string[] {
  return ['--reuid=65534', '--regid=65534', '--clear-groups'];
}

describe('a restore that the system refuses in part', () => {
  (canMakeImmutable ? it : it.skip)(
    '59: leaves an immutable file whole, names it and does the rest',
    async () => {
      project.put({ a: '1', fixed: '1', gone: '1', 'd/x': '1' });
      const locked = [project.at('fixed'), project.at('gone'), project.at('d')];
      expect(ran('chattr', '+i', ...locked)).toBe(true);
      try {
        const from = { a: '1', fixed: '1', gone: '1', 'd/x': '1' };
        const answer = await project.restore(from, { a: '2', fixed: '2', 'd/x': '2', 'd/y': '2' });
        expect(answer).toEqual({
          a: 'restored',
          fixed: 'EPERM: operation not permitted',
          gone: 'EPERM: operation not permitted',
          'd/x': 'EPERM: operation not permitted',
          'd/y': 'EPERM: operation not permitted',
        });
        expect(project.tree()).toEqual({ a: '2', fixed: '1', gone: '1', 'd/x': '1' });
      } finally {
        ran('chattr', '-i', ...locked);
      }
    },
  );

  (canMount ? it : it.skip)(
    '82: stops at a full disk before it replaces or deletes more',
    async () => {
      const disk = project.at('disk');
      mkdirSync(disk);
      expect(ran('mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', disk)).toBe(true);
      try {
        const from = { a: '1', c: '1', d: '1' };
        for (const [name, text] of Object.entries(from)) writeFileSync(join(disk, name), text);
        const to = { a: '2', b: 'x'.repeat(100_000), c: '2' };
        project.remember(to);
        const writer = createTreeWriter({ root: disk });
        const answer = await writer.apply(stepsBetween(from, to), project.content);
        const full = 'ENOSPC: no space left on the disk';
        expect(told(answer)).toEqual({ a: 'restored', b: full, c: full, d: full });
        expect(readdirSync(disk).sort()).toEqual(['a', 'c', 'd']);
        expect(readFileSync(join(disk, 'c'), 'utf8')).toBe('1');
      } finally {
        // The replaced file is let go of behind the answer.
        await until('the disk is free', () => ran('umount', disk));
      }
    },
  );

  (canBeNobody ? it : it.skip)('49: skips what an ordinary user may not write', () => {
    const library = transpile();
    try {
      project.put({ a: '1', fixed: '1', 'closed/x': '1', 'secret/x': '1', unread: '1', gone: '1' });
      expect(ran('chown', '-R', '65534:65534', project.root)).toBe(true);
      chmodSync(project.at('fixed'), 0o444);
      chmodSync(project.at('gone'), 0o444);
      chmodSync(project.at('unread'), 0o200);
      chmodSync(project.at('closed'), 0o555);
      chmodSync(project.at('secret'), 0o000);
      const from = { a: '1', fixed: '1', 'closed/x': '1', 'secret/x': '1', unread: '1', gone: '1' };
      const to = {
        a: '2',
        fixed: '2',
        'closed/x': '2',
        'closed/y': '2',
        'secret/x': '2',
        unread: '2',
      };
      const steps = stepsBetween(from, to);
      const child = spawnSync(
        'setpriv',
        [...asNobody(), process.execPath, join(library, 'run.mjs'), project.root],
        { input: JSON.stringify(steps), encoding: 'utf8' },
      );
      expect(child.stderr).toBe('');
      const refused = 'EACCES: permission denied';
      expect(told(JSON.parse(child.stdout) as never)).toEqual({
        a: 'restored',
        fixed: refused,
        'closed/x': refused,
        'closed/y': refused,
        'secret/x': refused,
        unread: refused,
        gone: refused,
      });
      expect(project.tree()).toEqual({ ...from, a: '2' });
    } finally {
      rmSync(library, { recursive: true, force: true });
    }
  });
});

/** The adapter as plain JavaScript where any user may read it. */
function transpile(): string {
  const target = mkdtempSync(join(tmpdir(), 'smithyd-library-'));
  chmodSync(target, 0o755);
  writeFileSync(join(target, 'package.json'), '{"type":"module"}');
  for (const folder of ['core', 'files']) {
    mkdirSync(join(target, folder));
    const entries = readdirSync(join('src', folder), { withFileTypes: true });
    for (const { name } of entries.filter((entry) => entry.isFile())) {
      const source = readFileSync(join('src', folder, name), 'utf8');
      const { outputText } = ts.transpileModule(source, {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
      });
      writeFileSync(join(target, folder, name.replace(/ts$/u, 'js')), outputText);
    }
  }
  writeFileSync(
    join(target, 'run.mjs'),
    `import { readFileSync } from 'node:fs';
     import { createTreeWriter } from './files/tree-writer.js';
     const writer = createTreeWriter({ root: process.argv[2] });
     const steps = JSON.parse(readFileSync(0, 'utf8'));
     console.log(JSON.stringify(await writer.apply(steps, async () => Buffer.from('2'))));`,
  );
  return target;
}
