/** Ignore files and nothing else: enough to drive the watcher without the real rules. */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import ignore from 'ignore';

export function plainRules(root) {
  return () => {
    const text = read(`${root}/.gitignore`);
    const fingerprint = createHash('sha1').update(text).digest('hex');
    return Promise.resolve({
      root: folderRules('', layer('', text, [])),
      fingerprint,
      outside: [],
    });
  };
}

function read(path) {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

function layer(base, text, above) {
  return [{ base, matcher: ignore({ allowRelativePaths: true }).add(text) }, ...above];
}

function folderRules(path, layers) {
  const child = (name) => (path === '' ? name : `${path}/${name}`);
  return {
    decide(name, kind) {
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
