import { mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { WatchNotice } from '../../src/core/watching.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine } from '../../src/watch/engine/engine.js';
import { loadRules } from '../../src/watch/rules/rule-set.js';
import { CONFIG, path, project, type Project, type Watched } from '../support/project.js';
import { projectRules } from '../support/rules.mjs';
import { until } from '../support/until.js';

const RULES = { trackHidden: 'all', exclude: [] } as const;

/** An engine that runs out of watches, until it is given more. */
function limited(limit: { watches: number }): (made: Engine) => Engine {
  return (made) => {
    const watched = new Set<string>();
    return {
      ...made,
      watch(folder) {
        if (!watched.has(folder) && watched.size >= limit.watches) return 'limit';
        watched.add(folder);
        return made.watch(folder);
      },
      unwatch(folder) {
        watched.delete(folder);
        made.unwatch(folder);
      },
    };
  };
}

describe('when watches run out', () => {
  let here: Project;
  const limit = { watches: 2 };
  const file = (name: string): string => `${here.root}/${name}`;
  const watch = (): Promise<Watched> => here.watch({ engine: limited(limit) });

  beforeEach(() => {
    here = project();
    limit.watches = 2;
    for (const name of ['a', 'b', 'c', 'c/d']) mkdirSync(file(name));
    writeFileSync(file('c/d/deep'), '1');
  });
  afterEach(() => here.end());

  it('the state says so, with the way out', async () => {
    const { watcher } = await watch();
    const health = watcher.health();
    expect(health).toMatchObject({ state: 'degraded', fresh: false, reason: 'watch_limit' });
    expect(health.remedy).toContain('max_user_watches');
  });

  it('every barrier still finds everything', async () => {
    const watched = await watch();
    for (const name of ['a/1', 'b/2', 'c/3', 'c/d/4', 'c/d/deep']) writeFileSync(file(name), name);
    mkdirSync(file('c/d/new/er'), { recursive: true });
    writeFileSync(file('c/d/new/er/5'), '5');
    await watched.settle();
    expect([...watched.state().keys()].sort()).toEqual(
      ['a/1', 'b/2', 'c/3', 'c/d/4', 'c/d/deep', 'c/d/new/er/5'].sort(),
    );
    expect(watched.watcher.get(path('c/d/deep'))?.size).toBe(8);
  });

  it('scans find changes that nobody asks about, also after one that failed', async () => {
    const written: string[] = [];
    let loads = 0;
    const rules = projectRules(here.root);
    const watched = await here.watch({
      engine: limited(limit),
      log: { write: (_, message) => written.push(message) },
      // The first is the start's, the second the first scan's.
      rules: () => (++loads === 2 ? Promise.reject(new Error('EAGAIN')) : rules()),
      timing: { scans: { healthyMs: 300_000, degradedMs: 20 } },
    });
    const seen = new Promise<void>((resolve) => {
      watched.watcher.onChange(({ changes }) => {
        if (changes.some((change) => change.path === 'c/d/deep')) resolve();
      });
    });
    await until('a scan has failed', () => loads > 1);
    writeFileSync(file('c/d/deep'), 'found by a scan');
    await seen;
    expect(written).toContain('Watching failed in the background.');
  });

  it('the state is good again once there are enough', async () => {
    const watched = await watch();
    limit.watches = 100;
    await watched.watcher.rescan();
    expect(watched.watcher.health()).toMatchObject({ state: 'ready', fresh: true });
    expect(watched.notices.at(-2)).toEqual({ type: 'watch_resynced', reason: 'watch_limit' });
  });
});

describe('when events may have been dropped', () => {
  it('the doubt is told, a scan follows, and its end is told', async () => {
    const here = project();
    try {
      let overflow: () => void = () => undefined;
      const watched = await here.watch({
        engine: (made) => ({
          ...made,
          open(events) {
            overflow = () => events.overflow();
            // Deaf: nothing that happens is ever hinted at.
            return made.open({ ...events, hint: () => undefined });
          },
        }),
      });
      writeFileSync(`${here.root}/a`, '1');
      await watched.settle();
      expect(watched.watcher.get(path('a'))).toBeUndefined();
      overflow();
      expect(watched.watcher.health()).toMatchObject({ fresh: false, reason: 'overflow' });
      await watched.settle();
      expect(watched.watcher.get(path('a'))?.size).toBe(1);
      expect(watched.changes().map(({ origin }) => origin)).toEqual(['scan']);
      const expected: WatchNotice[] = [
        { type: 'watch_desynced', reason: 'overflow' },
        { type: 'watch_resynced', reason: 'overflow' },
      ];
      expect(watched.notices).toEqual(expected);
    } finally {
      await here.end();
    }
  });

  it('a machine that slept is noticed by its clocks', async () => {
    const here = project();
    try {
      let asleep = 0;
      let isDeaf = true;
      const watched = await here.watch({
        clock: { now: () => Date.now() + asleep, monotonic: () => performance.now() },
        timing: { scans: { healthyMs: 50, degradedMs: 50 } },
        engine: (made) => ({
          ...made,
          open: (events) =>
            made.open({
              ...events,
              hint: (folder, name) => {
                if (!isDeaf) events.hint(folder, name);
              },
            }),
        }),
      });
      const told = new Promise<void>((resolve) => {
        watched.watcher.onNotice((notice) => {
          if (notice.type === 'watch_resynced' && notice.reason === 'sleep') resolve();
        });
      });
      writeFileSync(`${here.root}/a`, '1');
      asleep = 3_600_000;
      await told;
      isDeaf = false;
      expect(watched.watcher.get(path('a'))?.size).toBe(1);
    } finally {
      await here.end();
    }
  });
});

describe('when the rules are read twice at once', () => {
  it('those that were read last count', async () => {
    const here = project();
    try {
      writeFileSync(`${here.root}/.gitignore`, '*.log\n');
      for (const name of ['a.log', 'b.log']) writeFileSync(`${here.root}/${name}`, name);
      let include: string[] = [];
      let gate = Promise.resolve();
      const load = () =>
        loadRules({ root: here.root, home: '/nonexistent' }, { ...RULES, include });
      const watched = await here.watch({
        rules: () => Promise.all([load(), gate]).then(([set]) => set),
      });
      let open = (): void => undefined;
      gate = new Promise((resolve) => (open = resolve));
      include = ['a.log'];
      const first = watched.watcher.reconfigure(CONFIG);
      await nextTurn();
      gate = Promise.resolve();
      include = ['a.log', 'b.log'];
      const second = watched.watcher.reconfigure(CONFIG);
      await nextTurn();
      open();
      await Promise.all([first, second]);
      expect([...watched.state().keys()].sort()).toEqual(['.gitignore', 'a.log', 'b.log']);
    } finally {
      await here.end();
    }
  });
});
