import { describe, expect, it } from '@jest/globals';
import type { EntryKind, RuleOptions } from '../../src/core/tracking.js';
import { explain } from '../../src/watch/rules/explain.js';
import { createRules } from '../../src/core/rules.js';

interface Setup extends Partial<Omit<RuleOptions, 'config'>> {
  config?: Partial<RuleOptions['config']>;
  files?: Record<string, string>;
}

function project({ config = {}, files = {}, ...rest }: Setup = {}) {
  const rules = createRules({
    config: { trackHidden: 'project', include: [], exclude: [], ...config },
    ...(files[''] === undefined ? {} : { rootIgnore: files[''] }),
    ignoreCase: false,
    ...rest,
  });
  const why = (path: string, kind: EntryKind = 'file') =>
    explain(rules, path, {
      kind,
      ignoreFileOf: (folder) => {
        const text = files[folder];
        return text === undefined ? undefined : { source: `${folder}/.gitignore`, text };
      },
    });
  const tracks = (path: string, kind?: EntryKind) => why(path, kind).decision.tracked;
  return { rules, why, tracks };
}

describe('ignore files', () => {
  it('keep out what they name, and a folder with everything in it', () => {
    const { tracks } = project({ files: { '': '*.log\nout/\n' } });
    expect(tracks('a.log')).toBe(false);
    expect(tracks('deep/b.log')).toBe(false);
    expect(tracks('out/x/y.txt')).toBe(false);
    expect(tracks('out')).toBe(true);
    expect(tracks('a.txt')).toBe(true);
  });

  it('let a later line take back an earlier one', () => {
    const { tracks } = project({ files: { '': '*.log\n!keep.log\n' } });
    expect(tracks('keep.log')).toBe(true);
  });

  it('cannot bring back a file of an excluded folder', () => {
    const { tracks } = project({ files: { '': 'out/\n!out/keep.txt\n' } });
    expect(tracks('out/keep.txt')).toBe(false);
  });

  it('yield to a deeper ignore file', () => {
    const { tracks } = project({ files: { '': '*.txt\n', sub: '!a.txt\n' } });
    expect(tracks('sub/a.txt')).toBe(true);
    expect(tracks('sub/b.txt')).toBe(false);
  });

  it('rank above the exclude file of the repository, and that above the global one', () => {
    const { tracks, why } = project({
      files: { '': '!a\n' },
      infoExclude: { source: 'info', text: 'a\nb\n!c\n' },
      globalExcludes: { source: 'global', text: 'c\nd\n' },
    });
    expect(tracks('a')).toBe(true);
    expect(why('b').decision).toMatchObject({ tracked: false, reason: 'info_exclude' });
    expect(tracks('c')).toBe(true);
    expect(why('d').decision).toMatchObject({ tracked: false, reason: 'global_excludes' });
  });

  it('above the root apply with paths from their own folder', () => {
    const { tracks, why } = project({
      prefix: 'packages/app',
      above: [
        { base: '', text: '/packages/app/gen\n/gen2\n*.tmp\n' },
        { base: 'packages', text: '!x.tmp\napp/docs/*.pdf\n' },
      ],
      infoExclude: { source: 'info', text: '/packages/app/local\n/local2\n' },
    });
    expect(tracks('gen')).toBe(false);
    expect(tracks('gen2')).toBe(true);
    expect(tracks('y.tmp')).toBe(false);
    expect(tracks('x.tmp')).toBe(true);
    expect(tracks('docs/a.pdf')).toBe(false);
    expect(tracks('local')).toBe(false);
    expect(tracks('local2')).toBe(true);
    expect(why('docs/a.pdf').decision.rule?.source).toBe('../.gitignore');
  });

  it('that exclude the root itself do not empty it', () => {
    const { tracks } = project({ prefix: 'tmp/app', above: [{ base: '', text: 'tmp/\n' }] });
    expect(tracks('a.txt')).toBe(true);
  });

  it('compare without case only when git does', () => {
    expect(project({ files: { '': 'Out\n' } }).tracks('out')).toBe(true);
    expect(project({ files: { '': 'Out\n' }, ignoreCase: true }).tracks('oUT')).toBe(false);
  });
});

describe('the fixed exclusions', () => {
  it('hold at every depth', () => {
    const { tracks } = project();
    expect(tracks('a/node_modules/b.js')).toBe(false);
    expect(tracks('dist/a.js')).toBe(false);
    expect(tracks('lib/x.so')).toBe(false);
    expect(tracks('dist')).toBe(true);
  });

  it('are not undone by a negation in an ignore file', () => {
    const { tracks } = project({ files: { '': '!dist/\n!.cache\n' } });
    expect(tracks('dist/a.js')).toBe(false);
    expect(tracks('.cache/a')).toBe(false);
  });
});

describe('hidden names', () => {
  it('are tracked when they belong to the project', () => {
    const { tracks } = project();
    expect(tracks('.github/workflows/ci.yml')).toBe(true);
    expect(tracks('.gitignore')).toBe(true);
    expect(tracks('.cache/x')).toBe(false);
    expect(tracks('.DS_Store')).toBe(false);
  });

  it('are all left out with none, and all tracked with all', () => {
    expect(project({ config: { trackHidden: 'none' } }).tracks('.gitignore')).toBe(false);
    expect(project({ config: { trackHidden: 'all' } }).tracks('.cache/x')).toBe(true);
    expect(project({ config: { trackHidden: 'all' } }).tracks('.venv/x')).toBe(false);
  });
});

describe('secrets', () => {
  it('stay out whatever trackHidden says', () => {
    const { why } = project({ config: { trackHidden: 'all' } });
    expect(why('.env').decision).toMatchObject({ tracked: false, reason: 'secret' });
    expect(why('certs/server.pem').decision.reason).toBe('secret');
    expect(why('.aws/credentials').decision.reason).toBe('secret');
  });

  it('come in when include names them, not when it names their folder', () => {
    expect(project({ config: { include: ['.env'] } }).tracks('.env')).toBe(true);
    const { tracks } = project({ config: { include: ['out/'] } });
    expect(tracks('out/a.js')).toBe(true);
    expect(tracks('out/.env')).toBe(false);
  });
});

describe('the settings', () => {
  it('exclude in gitignore syntax', () => {
    const { tracks, why } = project({ config: { exclude: ['data/', '*.bin', '!keep.bin'] } });
    expect(tracks('data/a')).toBe(false);
    expect(tracks('keep.bin')).toBe(true);
    expect(why('x.bin').decision).toEqual({
      tracked: false,
      enter: false,
      reason: 'exclude',
      rule: { source: 'exclude', line: 2, pattern: '*.bin' },
    });
  });

  it('include over ignore files, fixed exclusions, hidden names and exclude', () => {
    const { tracks } = project({
      files: { '': 'logs/\n' },
      config: { include: ['logs/keep.log', 'dist/', '.cache/x', 'a.bin'], exclude: ['*.bin'] },
    });
    expect(tracks('logs/keep.log')).toBe(true);
    expect(tracks('logs/other.log')).toBe(false);
    expect(tracks('dist/deep/a.js')).toBe(true);
    expect(tracks('.cache/x')).toBe(true);
    expect(tracks('.cache/y')).toBe(false);
    expect(tracks('a.bin')).toBe(true);
  });

  it('never include .git or .agentsmithy, however spelled', () => {
    const { tracks } = project({ config: { trackHidden: 'all', include: ['*', '.git/', '**'] } });
    for (const name of [
      '.git',
      '.GIT',
      'git~1',
      '.git.',
      '.agentsmithy',
      '.g\u200cit',
      '\u200c.git',
    ]) {
      expect([name, tracks(`${name}/config`)]).toEqual([name, false]);
      expect([name, tracks(`sub/${name}`)]).toEqual([name, false]);
    }
  });

  it('open an excluded folder only on the way to an included path', () => {
    const { rules } = project({ config: { include: ['dist/keep/*.txt'] } });
    expect(rules.decide('dist', 'directory')).toMatchObject({ tracked: false, enter: true });
    expect(rules.decide('node_modules', 'directory').enter).toBe(false);
    const dist = rules.enter('dist', undefined);
    expect(dist.decide('keep', 'directory').enter).toBe(true);
    expect(dist.decide('other', 'directory').enter).toBe(false);
  });

  it('open every excluded folder when the included path may be anywhere', () => {
    const { rules } = project({ config: { include: ['**/keep/a.txt'] } });
    expect(rules.decide('node_modules', 'directory').enter).toBe(true);
  });

  it('look for a plain included name in ignored folders but not in dependencies', () => {
    const { rules, tracks } = project({
      files: { '': 'logs/\n' },
      config: { include: ['*.keep'] },
    });
    expect(tracks('logs/a.keep')).toBe(true);
    expect(tracks('logs/a.log')).toBe(false);
    expect(rules.decide('node_modules', 'directory').enter).toBe(false);
  });
});

describe('an explanation', () => {
  it('names the file, the line and the pattern', () => {
    const { why } = project({ files: { sub: '# note\n\n*.gen.ts\n' } });
    expect(why('sub/a.gen.ts')).toEqual({
      path: 'sub/a.gen.ts',
      at: 'sub/a.gen.ts',
      decision: {
        tracked: false,
        enter: false,
        reason: 'gitignore',
        rule: { source: 'sub/.gitignore', line: 3, pattern: '*.gen.ts' },
      },
      sentence:
        'sub/a.gen.ts is not tracked: an ignore file of the project names it (sub/.gitignore:3: *.gen.ts).',
    });
  });

  it('names the folder that settled the matter', () => {
    const { at, sentence } = project().why('a/node_modules/b/c.js');
    expect(at).toBe('a/node_modules');
    expect(sentence).toMatch(
      /^a\/node_modules\/b\/c\.js is not tracked: a\/node_modules\/ is left out/u,
    );
  });

  it('says so when nothing speaks against a path', () => {
    expect(project().why('src/a.ts').sentence).toBe('src/a.ts is tracked: no rule excludes it.');
  });
});

describe('a walk', () => {
  it('shares one object between folders where only names count', () => {
    const { rules } = project({ files: { '': '*.log\nout/\n' } });
    const first = rules.enter('a', undefined);
    expect(first.enter('b', undefined).enter('c', undefined)).toBe(first);
  });

  it('is not stalled by hostile patterns, and says which it gave up', () => {
    const stars = Array.from({ length: 40 }, (_, i) => `${'*a'.repeat(60)}*${i}b`);
    const deep = Array.from({ length: 40 }, (_, i) => `${'**/*a?*/'.repeat(200)}x${i}?`);
    const many = Array.from({ length: 5000 }, (_, i) => `[a]*${i}?`);
    const { rules } = project({ files: { '': [...stars, ...deep, ...many].join('\n') } });
    const started = performance.now();
    let folder = rules.enter('aaaa', undefined);
    for (let depth = 0; depth < 100; depth += 1) folder = folder.enter('aaaaaaaaaaaa', undefined);
    for (let count = 0; count < 20; count += 1) folder.decide('a'.repeat(250), 'file');
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(rules.dropped().filter(({ why }) => why === 'too_many').length).toBe(4080);
  });

  it('drops a pattern longer than any path, by name', () => {
    const { rules } = project({ files: { '': `${'a'.repeat(5000)}\nb\n` } });
    expect(rules.dropped()).toMatchObject([{ why: 'too_long', rule: { line: 1 } }]);
    expect(rules.decide('b', 'file').tracked).toBe(false);
  });
});
