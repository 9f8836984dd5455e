import { describe, expect, it } from '@jest/globals';
import { CLI } from '../support/daemon-project.js';
import { hasPython, onTerminal } from '../support/terminal.js';
import { sharedWork } from '../support/work.js';

const RED = '\u001B[31m';

describe('what happened, for people', () => {
  const shared = sharedWork();

  it('is in words, plain when piped', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const say = async (...words: string[]) => (await work.project.cli(words)).stdout;
    await say('changes');
    work.put({ a: '2\n' });
    await work.call('push_telemetry', {
      console: [{ level: 'error', message: 'Broken\nby \u001B[31mus', source: 'a.js:1' }],
      network: [{ url: 'http://localhost/api', method: 'GET', status: 500 }],
    });
    expect(await say('mark', 'before_repair')).toContain('before_repair is set');
    const text = await say('changes', '--since', 'session_start', '--include', 'files,console');
    expect(text).toContain('error  1 new console error(s), 1 unknown file change(s)');
    expect(text).toMatch(/modified +a +\+1 -1 +unknown/u);
    expect(text).toMatch(/error +Broken by .*a\.js:1/u);
    expect(text).not.toContain('\u001B');
    expect(text).not.toContain('network');
    expect(await say('changes', '--severity', 'errors_only')).toContain('never asked before');
    expect(await say('changes')).toMatch(/^clean {2}No significant changes\./u);
    expect(await say('health')).toContain('pushed by programs');
    expect(await say('unmark', 'before_repair')).toBe('before_repair is removed.\n');
  });

  it('shows lines as they are, tabs and ends included, and how often a connection was lost', async () => {
    const work = shared();
    await work.fresh({ 'a.mk': 'all:\n\tmake\r\n' });
    const say = async (...words: string[]) => (await work.project.cli(words)).stdout;
    await say('changes');
    work.put({ 'a.mk': 'all:\n\tbuild\r\n\tmake\r\n' });
    const lost = { event: 'close', url: 'ws://localhost/live', close_code: 1006 };
    await work.call('push_telemetry', {
      websocket: [{ event: 'open', url: lost.url }, lost, { ...lost, event: 'open' }, lost],
    });
    const text = await say('changes', '--detail', 'hunks');
    expect(text).toContain('\n+\tbuild');
    expect(text).toContain('\n \tmake\n');
    expect(text).toMatch(/closed 2 times {2}ws:/u);
  });

  it.each([
    [['unmark', 'zzzzzzzz'], 'smithyd marks'],
    [['changes', '--since', 'zzzzzzzz'], 'smithyd marks'],
    [['baseline', 'rm', 'zzzzzzzz'], 'smithyd baseline list'],
  ])('%j is told where the names are', async (words, command) => {
    const { stderr } = await shared().project.cli(words);
    expect(stderr).toContain(`\`${command}\``);
  });

  it('keeps the name of a file on its line', async () => {
    const work = shared();
    const name = 'a\n  deleted   src\u2028main.ts';
    const shown = String.raw`"a\n  deleted   src\u2028main.ts"`;
    const { initial_checkpoint: initial } = await work.fresh({ b: '1' });
    const say = async (...words: string[]) => (await work.project.cli(words)).stdout;
    await say('changes');
    work.put({ [name]: '1' });
    for (const words of [['changes'], ['session'], ['files'], ['restore', initial]]) {
      const text = await say(...words);
      expect({ words, text }).toEqual({ words, text: expect.stringContaining(shown) });
      expect(text).not.toMatch(/^ {2}deleted {3}src/mu);
    }
  });

  it('names what is tracked and has no known content', async () => {
    const work = shared();
    await work.fresh({ small: '1' });
    await work.call('update_config', { maxFileBytes: 10 });
    work.put({ large: 'more than ten bytes' });
    const { stdout } = await work.project.cli(['files']);
    expect(stdout).toMatch(/^ {2}skipped {3}large: too_large$/mu);
    const why = async (path: string) => (await work.project.cli(['status', '--why', path])).stdout;
    expect(await why('large')).toContain('Its content is not kept: it is larger than');
    expect(await why('small')).toMatch(/ small is tracked: no rule excludes it\.$/mu);
    expect(await why('nope')).toMatch(/ nope would be tracked: no rule excludes it\.$/mu);
    expect(await why('node_modules/x')).toContain('node_modules/x would not be tracked: ');
    await work.call('update_config', { maxFileBytes: 52_428_800 });
  });

  it('has commands for noise', async () => {
    const { project } = shared();
    const say = async (...words: string[]) => (await project.cli(words)).stdout;
    expect(await say('noise')).toMatch(/console +builtin-hmr +/u);
    const rule = JSON.stringify({ id: 'own-poll', category: 'console', pattern: '^poll' });
    expect(await say('noise', '--add', rule)).toMatch(/^console +own-poll +\^poll\n/u);
    expect(await say('noise', '--disable', 'builtin-hmr')).toMatch(/builtin-hmr +off /u);
    await say('noise', '--enable', 'builtin-hmr');
    expect(await say('noise', '--remove', 'own-poll')).not.toContain('own-poll');
  });

  it('has commands for baselines', async () => {
    const work = shared();
    const say = async (...words: string[]) => (await work.project.cli(words)).stdout;
    expect(await say('baseline', 'list')).toContain('No baselines yet');
    expect(await say('baseline', 'save', 'baseline_cart', 'it works')).toContain('is saved');
    expect(await say('baseline', 'list')).toContain('it works');
    expect(await say('baseline', 'compare', 'baseline_cart')).toContain('match  baseline_cart');
    await work.call('push_telemetry', { console: [{ level: 'error', message: 'Another' }] });
    const compared = await say('baseline', 'compare', 'baseline_cart');
    expect(compared).toContain('worse  console error  Another  1 (was 0)');
    expect(await say('baseline', 'rm', 'baseline_cart')).toBe('baseline_cart is removed.\n');
  });

  (hasPython ? it : it.skip)('has colours on a terminal', async () => {
    const work = shared();
    await work.call('push_telemetry', { console: [{ level: 'error', message: 'In red' }] });
    const command = [process.execPath, CLI, '--root', work.root, 'changes'];
    const { stdout } = await onTerminal(command, {
      ...{ when: 'never', keys: '', env: { TERM: 'xterm-256color', NO_COLOR: undefined } },
    });
    expect(stdout).toContain(`${RED}error`);
    expect(stdout).toContain('In red');
  });
});
