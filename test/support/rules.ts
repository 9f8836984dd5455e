import { existsSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import ignore, { type Ignore } from 'ignore';
import type { Decision, EntryKind, FolderRules, RuleSet } from '../../src/core/watching.js';

interface Layer {
  readonly base: string;
  readonly matcher: Ignore;
}

/** Ignore files and nothing else: enough to drive the watcher without the real rules. */
export function plainRules(root: string): () => Promise<RuleSet> {
  return () => {
    const file = `${root}/.gitignore`;
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const fingerprint = createHash('sha1').update(text).digest('hex');
    return Promise.resolve({
      root: folderRules('', layer('', text, [])),
      fingerprint,
      outside: [],
    });
  };
}

function layer(base: string, text: string, above: readonly Layer[]): readonly Layer[] {
  return [{ base, matcher: ignore({ allowRelativePaths: true }).add(text) }, ...above];
}

function folderRules(path: string, layers: readonly Layer[]): FolderRules {
  const child = (name: string): string => (path === '' ? name : `${path}/${name}`);
  return {
    decide(name: string, kind: EntryKind): Decision {
      const full = child(name) + (kind === 'directory' ? '/' : '');
      for (const { base, matcher } of layers) {
        const verdict = matcher.test(base === '' ? full : full.slice(base.length + 1));
        if (verdict.ignored) return { tracked: false, enter: false, reason: 'ignored' };
        if (verdict.unignored) break;
      }
      return { tracked: true, enter: kind === 'directory', reason: 'nothing excludes it' };
    },
    enter(name, text) {
      const inner = child(name);
      return folderRules(inner, text === undefined ? layers : layer(inner, text, layers));
    },
  };
}
