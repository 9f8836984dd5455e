import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CONFIG, path, project, type Project, type Watched } from '../support/project.js';

/** What the watcher promises, whichever engine it runs on. */
export function engineContract(engine: 'directories' | 'chokidar'): void {
  describe(`watching with ${engine}`, () => {
    let here: Project;
    const watch = (): Promise<Watched> => here.watch({ config: { ...CONFIG, watcher: engine } });
    const file = (name: string): string => `${here.root}/${name}`;
    const write = (name: string, text: string): void => {
      mkdirSync(file(name).replace(/\/[^/]*$/u, ''), { recursive: true });
      writeFileSync(file(name), text);
    };
    /** git's own id, so that no error of ours can cancel out. */
    const idOf = (name: string): string =>
      execFileSync('git', ['hash-object', '--no-filters', '--', file(name)], {
        encoding: 'utf8',
      }).trim();
    const summary = (watched: Watched): string[] =>
      watched.changes().map(({ change, path: at }) => `${change} ${at}`);

    beforeEach(() => {
      here = project();
    });
    afterEach(() => here.end());

    it('knows every file by the id git gives it', async () => {
      write('a.txt', 'hello\n');
      write('deep/er/b', '');
      write('large', 'x'.repeat(700_000));
      const watched = await watch();
      expect(watched.state()).toEqual(
        new Map([
          ['a.txt', `100644 ${idOf('a.txt')}`],
          ['deep/er/b', `100644 ${idOf('deep/er/b')}`],
          ['large', `100644 ${idOf('large')}`],
        ]),
      );
    });

    it('reports no change for what was there at the first start', async () => {
      write('a', '1');
      const watched = await watch();
      await watched.settle();
      expect(watched.batches).toEqual([]);
    });

    it('reports a file created, modified and deleted', async () => {
      const watched = await watch();
      write('a', '1');
      await watched.settle();
      write('a', '22');
      await watched.settle();
      rmSync(file('a'));
      await watched.settle();
      expect(summary(watched)).toEqual(['created a', 'modified a', 'deleted a']);
      expect(watched.state().size).toBe(0);
    });

    it('finds an edit of the same size with the old time put back', async () => {
      write('a', 'one');
      const watched = await watch();
      const { atime, mtime } = statSync(file('a'));
      writeFileSync(file('a'), 'two');
      utimesSync(file('a'), atime, mtime);
      await watched.settle();
      expect(watched.watcher.get(path('a'))?.hash).toBe(idOf('a'));
    });

    it('says nothing of a touch', async () => {
      write('a', '1');
      const watched = await watch();
      utimesSync(file('a'), 1, 1);
      await watched.settle();
      expect(watched.batches).toEqual([]);
    });

    it('reports the executable bit', async () => {
      write('a', '1');
      const watched = await watch();
      chmodSync(file('a'), 0o755);
      await watched.settle();
      expect(watched.watcher.get(path('a'))?.mode).toBe('100755');
      expect(summary(watched)).toEqual(['modified a']);
    });

    it('shows an editor save as one modification of the real path', async () => {
      write('a', '1');
      const watched = await watch();
      write('.a.swp', 'x');
      write('a.tmp', '2');
      renameSync(file('a.tmp'), file('a'));
      rmSync(file('.a.swp'));
      await watched.settle();
      expect(summary(watched)).toEqual(['modified a']);
    });

    it('keeps links as links, dangling, looping and outward ones too', async () => {
      const watched = await watch();
      symlinkSync('nowhere', file('dangling'));
      symlinkSync('.', file('loop'));
      symlinkSync('/etc', file('outward'));
      await watched.settle();
      expect(
        [...watched.watcher.entries()].map((entry) => [entry.path, entry.kind]).sort(),
      ).toEqual([
        ['dangling', 'link'],
        ['loop', 'link'],
        ['outward', 'link'],
      ]);
      expect(watched.watcher.get(path('dangling'))?.mode).toBe('120000');
    });

    it('finds everything below a folder moved into the tree', async () => {
      write('.agentsmithy/outside/x/y/one', '1');
      const watched = await watch();
      renameSync(file('.agentsmithy/outside'), file('in'));
      await watched.settle();
      expect([...watched.state().keys()]).toEqual(['in/x/y/one']);
    });

    it('finds everything under the new name of a renamed folder', async () => {
      write('a/b/one', '1');
      write('a/two', '2');
      const watched = await watch();
      renameSync(file('a'), file('z'));
      write('z/b/three', '3');
      await watched.settle();
      expect([...watched.state().keys()].sort()).toEqual(['z/b/one', 'z/b/three', 'z/two']);
      write('z/b/one', 'after');
      await watched.settle();
      expect(watched.watcher.get(path('z/b/one'))?.hash).toBe(idOf('z/b/one'));
    });

    it('is not fooled by two folders that swap places', async () => {
      write('a/x', 'of a');
      write('b/x', 'of b');
      const watched = await watch();
      renameSync(file('a'), file('t'));
      renameSync(file('b'), file('a'));
      renameSync(file('t'), file('b'));
      await watched.settle();
      write('a/x', 'later in a');
      write('b/x', 'later in b');
      await watched.settle();
      expect(watched.watcher.get(path('a/x'))?.hash).toBe(idOf('a/x'));
      expect(watched.watcher.get(path('b/x'))?.hash).toBe(idOf('b/x'));
    });

    it('follows a folder that is removed and made again at once', async () => {
      write('a/x', '1');
      const watched = await watch();
      for (let round = 0; round < 20; round += 1) {
        rmSync(file('a'), { recursive: true });
        write('a/x', `${round}`);
      }
      await watched.settle();
      appendFileSync(file('a/x'), 'more');
      await watched.settle();
      expect(watched.watcher.get(path('a/x'))?.hash).toBe(idOf('a/x'));
    });

    it('takes in a file that becomes a folder, and a folder that becomes a file', async () => {
      write('a', '1');
      write('b/c', '2');
      const watched = await watch();
      rmSync(file('a'));
      write('a/inner', '3');
      rmSync(file('b'), { recursive: true });
      write('b', '4');
      await watched.settle();
      expect([...watched.state().keys()].sort()).toEqual(['a/inner', 'b']);
    });

    it('misses nothing of deep folders made in a burst', async () => {
      const watched = await watch();
      const expected: string[] = [];
      for (let index = 0; index < 300; index += 1) {
        const name = `d${index % 10}/e${index % 7}/f${index % 5}/g/file-${index}`;
        write(name, `${index}`);
        expected.push(name);
      }
      await watched.settle();
      expect([...watched.state().keys()].sort()).toEqual(expected.sort());
    });

    it('knows empty folders', async () => {
      mkdirSync(file('empty/inner'), { recursive: true });
      const watched = await watch();
      expect([...watched.watcher.emptyFolders()]).toEqual(['empty/inner']);
      write('empty/inner/x', '1');
      mkdirSync(file('new'));
      await watched.settle();
      expect([...watched.watcher.emptyFolders()]).toEqual(['new']);
    });

    it('obeys an ignore file as soon as it changes, and calls nothing deleted', async () => {
      write('sub/keep', '1');
      write('sub/drop', '2');
      write('sub/folder/drop', '3');
      const watched = await watch();
      write('sub/.gitignore', 'drop\n');
      await watched.settle();
      expect([...watched.state().keys()].sort()).toEqual(['sub/.gitignore', 'sub/keep']);
      expect(watched.batches.flatMap(({ untracked }) => untracked)).toEqual([
        'sub/drop',
        'sub/folder/drop',
      ]);
      expect(summary(watched)).toEqual(['created sub/.gitignore']);
      rmSync(file('sub/.gitignore'));
      await watched.settle();
      expect([...watched.state().keys()].sort()).toEqual([
        'sub/drop',
        'sub/folder/drop',
        'sub/keep',
      ]);
    });

    it('obeys the ignore file of the root as soon as it changes', async () => {
      write('output/x', '1');
      write('src/x', '1');
      const watched = await watch();
      write('.gitignore', 'output/\n');
      await watched.settle();
      expect([...watched.state().keys()].sort()).toEqual(['.gitignore', 'src/x']);
      write('output/y', '2');
      write('.gitignore', '');
      await watched.settle();
      write('output/z', '3');
      await watched.settle();
      expect(watched.state().has('output/z')).toBe(true);
      expect(watched.state().has('output/y')).toBe(true);
    });

    it('tells of no file twice when many come at once', async () => {
      const watched = await watch();
      for (let index = 0; index < 1_000; index += 1) write(`many/${index}`, `${index}`);
      await watched.settle();
      expect(new Set(summary(watched)).size).toBe(1_000);
      expect(summary(watched)).toHaveLength(1_000);
    });

    it('lets a listener stop it', async () => {
      const watched = await watch();
      const stopped = new Promise<void>((resolve, reject) => {
        watched.watcher.onChange(() => {
          watched.watcher.stop().then(resolve, reject);
        });
      });
      write('a', '1');
      await watched.watcher.settle();
      await stopped;
      expect(await watched.watcher.settle()).toEqual({ fresh: false });
    });
  });
}
