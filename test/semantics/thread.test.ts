import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Semantics } from '../../src/core/semantics.js';
import { createSemantics, type SemanticsOptions } from '../../src/semantics/semantics.js';
import { until } from '../support/until.js';

const BUILT = pathToFileURL(resolve('dist/semantics/worker.js'));
const SECOND = [{ first: 2, last: 2 }];
const PYTHON = Buffer.from('def f():\n    return 1\n');

let folder: string;
let semantics: Semantics;
let logged: string[];

function open(options: Partial<SemanticsOptions> = {}): void {
  const log = { write: (_: string, what: string) => void logged.push(what) };
  semantics = createSemantics({ log, worker: BUILT, ...options });
}

/** A thread that does what the text says. */
function thread(text: string): URL {
  const file = join(folder, 'thread.mjs');
  writeFileSync(file, `import { parentPort } from 'node:worker_threads';\n${text}`);
  return pathToFileURL(file);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'smithyd-semantics-'));
  logged = [];
});
afterEach(async () => {
  await semantics.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the semantics of a file', () => {
  it('are found in a thread, for every language, in the order asked', async () => {
    open();
    const asked = [
      semantics.enrich('a.py', PYTHON, SECOND),
      semantics.enrich('a.ts', Buffer.from('class A {\n  m(): void {}\n}\n'), SECOND),
      semantics.enrich('a.tsx', Buffer.from('const A = () => (\n  <b />\n);\n'), SECOND),
      semantics.enrich('a.mjs', Buffer.from('function* g() {\n  yield 1;\n}\n'), SECOND),
      semantics.enrich('a.yml', Buffer.from('a:\n  b: 1\n'), SECOND),
      semantics.enrich('a.json', Buffer.from('{\n  "a": 1\n}\n'), SECOND),
    ];
    const answers = await Promise.all(asked);
    expect(answers.map(({ block }) => `${block.kind}:${block.id}`)).toEqual([
      'function:f',
      'method:A.m',
      'function:A',
      'function:g',
      'yaml_path:/a/b',
      'json_path:/a',
    ]);
    expect(answers.every(({ warning }) => warning === undefined)).toBe(true);
  });

  it('are lines, with a warning, in a language that is not known', async () => {
    open();
    expect(await semantics.enrich('a.rb', Buffer.from('def f\n  1\nend\n'), SECOND)).toEqual({
      block: { kind: 'lines', id: '2' },
      blocks: [{ kind: 'lines', id: '2' }],
      warning: 'a.rb is of no known language.',
    });
  });

  it('are lines, with a warning, when the file is too large', async () => {
    open();
    const { block, warning } = await semantics.enrich('a.yaml', Buffer.alloc(300_000, 'a'), SECOND);
    expect(block).toEqual({ kind: 'lines', id: '2' });
    expect(warning).toBe('a.yaml is larger than 262144 bytes.');
  });

  it('leave the bytes of the caller alone', async () => {
    open();
    const whole = Buffer.concat([Buffer.alloc(100), PYTHON, Buffer.alloc(100)]);
    const content = whole.subarray(100, 100 + PYTHON.length);
    expect((await semantics.enrich('a.py', content, SECOND)).block.id).toBe('f');
    expect(content.equals(PYTHON)).toBe(true);
  });

  it('let the daemon go on meanwhile, even with the largest files', async () => {
    open();
    const large = Buffer.from('def f(a):\n    return a\n'.repeat(20_000));
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 1);
    const asked = [1, 2, 3].map(() => semantics.enrich('a.py', large, SECOND));
    const answers = await Promise.all(asked);
    clearInterval(turning);
    expect(answers).toHaveLength(3);
    // A loop that did the work itself would have turned once a file.
    expect(turns).toBeGreaterThan(20);
  });
});

describe('a thread that fails', () => {
  it('costs only the file it failed on', async () => {
    open({
      worker: thread(`
        parentPort.on('message', ({ path }) => {
          if (path === 'bad.py') throw new Error('as asked');
          parentPort.postMessage({ block: { kind: 'module', id: path }, blocks: [] });
        });`),
    });
    const asked = ['a.py', 'bad.py', 'b.py'].map((path) => semantics.enrich(path, PYTHON, SECOND));
    const answers = await Promise.all(asked);
    expect(answers.map(({ block }) => block.id)).toEqual(['a.py', '2', 'b.py']);
    expect(answers[1]?.warning).toBe('bad.py was not examined: Error: as asked.');
    expect(logged).toEqual(['A file could not be examined; its lines stand for it.']);
  });

  it('is ended when it takes too long', async () => {
    open({
      answerMs: 3_000,
      worker: thread(`
        parentPort.on('message', ({ path }) => {
          while (path === 'bad.py');
          parentPort.postMessage({ block: { kind: 'module', id: path }, blocks: [] });
        });`),
    });
    const asked = ['bad.py', 'b.py'].map((path) => semantics.enrich(path, PYTHON, SECOND));
    const answers = await Promise.all(asked);
    expect(answers.map(({ block }) => block.id)).toEqual(['2', 'b.py']);
    expect(answers[0]?.warning).toBe('bad.py was not examined: it took too long.');
  });

  it('is ended when it needs too much memory', async () => {
    open({
      answerMs: 60_000,
      worker: thread(`
        parentPort.on('message', () => {
          for (const kept = []; ; ) kept.push(new Array(100_000).fill(kept.length));
        });`),
    });
    const { block, warning } = await semantics.enrich('a.py', PYTHON, SECOND);
    expect(block.kind).toBe('lines');
    expect(warning).toContain('memory');
  });

  it('is lines when there is none', async () => {
    open({ worker: pathToFileURL(join(folder, 'nowhere.mjs')) });
    const { block, warning } = await semantics.enrich('a.py', PYTHON, SECOND);
    expect(block).toEqual({ kind: 'lines', id: '2' });
    expect(warning).toContain('a.py was not examined');
  });

  it('is lines for a language whose grammar is not installed, and only for it', async () => {
    cpSync('dist', join(folder, 'dist'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    mkdirSync(join(folder, 'node_modules'));
    for (const name of ['web-tree-sitter', 'yaml', 'tree-sitter-javascript', 'zod']) {
      symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
    }
    open({ worker: pathToFileURL(join(folder, 'dist/semantics/worker.js')) });
    const missing = await semantics.enrich('a.py', PYTHON, SECOND);
    expect(missing.block).toEqual({ kind: 'lines', id: '2' });
    expect(missing.warning).toContain('tree-sitter-python');
    const { block } = await semantics.enrich('a.js', Buffer.from('function f() {\n}\n'), SECOND);
    expect(block).toEqual({ kind: 'function', id: 'f' });
  });
});

describe('the thread', () => {
  it('ends when nobody asks for a while, and starts again', async () => {
    const worker = thread(`
      import { threadId } from 'node:worker_threads';
      parentPort.on('message', () => {
        parentPort.postMessage({ block: { kind: 'module', id: String(threadId) }, blocks: [] });
      });`);
    open({ worker, idleMs: 1 });
    const ask = async (): Promise<string> =>
      (await semantics.enrich('a.py', PYTHON, SECOND)).block.id;
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(second).toBe(first);
    await until('another thread answers', async () => (await ask()) !== first);
  });

  it('keeps no program alive', () => {
    open();
    const program = join(folder, 'program.mjs');
    writeFileSync(
      program,
      `import { createSemantics } from ${JSON.stringify(new URL('semantics.js', BUILT).href)};
      const { block } = await createSemantics({ log: { write() {} } })
        .enrich('a.py', Buffer.from('def f(): pass'), [{ first: 1, last: 1 }]);
      process.stdout.write(block.id);`,
    );
    const run = spawnSync(process.execPath, [program], { timeout: 15_000, encoding: 'utf8' });
    expect(run).toMatchObject({ status: 0, signal: null, stdout: 'f' });
  });

  it('answers what waits with lines when the daemon stops, and everything after', async () => {
    open({ worker: thread(`parentPort.on('message', () => {});`) });
    const asked = ['a.py', 'b.py'].map((path) => semantics.enrich(path, PYTHON, SECOND));
    await semantics.close();
    const answers = await Promise.all([...asked, semantics.enrich('c.py', PYTHON, SECOND)]);
    expect(answers.map(({ warning }) => warning)).toEqual([
      'a.py was not examined: the daemon stops.',
      'b.py was not examined: the daemon stops.',
      'c.py was not examined: the daemon stops.',
    ]);
  });

  it('answers at once with lines when too many files wait', async () => {
    open({ worker: thread(`parentPort.on('message', () => {});`) });
    const asked = Array.from({ length: 300 }, () => semantics.enrich('a.py', PYTHON, SECOND));
    const last = await asked.at(-1);
    expect(last?.warning).toBe('a.py was not examined: too many files wait.');
  });
});
