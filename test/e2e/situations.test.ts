import { describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { editing } from '../support/edits.js';
import { SITUATIONS, type Situation } from '../support/situations.js';
import type { Changes } from '../support/s0-scenarios.js';
import { git, sharedWork, type Work } from '../support/work.js';

const MOST_BYTES = 2_048;
const MOST_SHARE = 0.05;

const numbered = (count: number, folder: string, text: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `${folder}/f${n}.ts`,
      `export const ${text} = ${n};\n`,
    ]),
  );

/** Everything that a situation may need, in a repository with two branches. */
async function prepare(work: Work): Promise<void> {
  const sources = ['mine', 'by-hand-1', 'by-hand-2', 'by-hand-3'];
  const files = {
    ...Object.fromEntries(sources.map((name) => [`src/${name}.ts`, 'export const total = 1;\n'])),
    ...numbered(400, 'lib', 'n'),
    ...numbered(120, 'fmt', 'n'),
  };
  await work.fresh(files);
  git(work.root, ['init', '-q', '-b', 'main']);
  git(work.root, ['add', '.']);
  git(work.root, ['commit', '-qm', 'one']);
  git(work.root, ['checkout', '-qb', 'other']);
  work.put(numbered(400, 'lib', 'm'));
  git(work.root, ['commit', '-qam', 'two']);
  await work.save();
}

async function change(work: Work, what: Situation['files']): Promise<void> {
  if (what === 'checkout') {
    const [now] = git(work.root, ['branch', '--show-current']).split('\n');
    git(work.root, ['checkout', '-q', now === 'main' ? 'other' : 'main']);
  }
  if (what === 'formatter') {
    const script = 'for f in fmt/*; do echo "// formatted" >> "$f"; done';
    const { code } = await work.project.cli(['run', '--', 'sh', '-c', script], { cwd: work.root });
    expect([code, readdirSync(work.at('fmt')).length]).toEqual([0, 120]);
  }
  if (what !== 'agent' && what !== 'unknown edits') return;
  const edit = editing(work);
  const started = await edit.start(['src/mine.ts']);
  work.put({ 'src/mine.ts': `${work.read('src/mine.ts')}export const more = totel;\n` });
  if (what === 'unknown edits') {
    const text = `${work.read('src/by-hand-1.ts')}export const hand = 1;\n`;
    work.put({ 'src/by-hand-1.ts': text, 'src/by-hand-2.ts': text, 'src/by-hand-3.ts': text });
  }
  await edit.finalize(started);
}

describe('situations', () => {
  const shared = sharedWork();
  let isPrepared = false;

  it('are more than twenty, with at least 30 KB each', () => {
    expect(SITUATIONS.length).toBeGreaterThanOrEqual(20);
    expect(new Set(SITUATIONS.map(({ name }) => name)).size).toBe(SITUATIONS.length);
  });

  it.each(SITUATIONS.map((one) => [one.name, one] as const))(
    '%s: told in two KB and a twentieth of what there is',
    async (_, { before, after, ...situation }) => {
      const work = shared();
      if (!isPrepared) await prepare(work);
      isPrepared = true;
      const client = `situation ${situation.name}`;
      await work.call('push_telemetry', before);
      await work.call('get_changes_since', { client });
      await change(work, situation.files);
      await work.call('push_telemetry', after);
      const found = await work.call<Changes>('get_changes_since', { client });
      const text = JSON.stringify(found);
      const raw = Buffer.byteLength(JSON.stringify(after));
      expect(raw).toBeGreaterThanOrEqual(30_000);
      expect(found.severity).toBe(situation.severity);
      for (const fact of situation.facts) expect(text).toMatch(pattern(fact));
      for (const word of situation.silent ?? []) expect(text).not.toContain(word);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MOST_BYTES);
      expect(Buffer.byteLength(text) / raw).toBeLessThanOrEqual(MOST_SHARE);
      // What nobody announced is known from here on.
      await work.call('handle_unknown_changes', { strategy: 'integrate' });
    },
  );
});

function pattern(fact: string | RegExp): RegExp {
  if (typeof fact !== 'string') return fact;
  return new RegExp(fact.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&'), 'u');
}
