import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Optional: an installation may be without them. */
const GRAMMARS = ['tree-sitter-javascript', 'tree-sitter-python', 'tree-sitter-typescript'];
/** To be raised when our readers, or the packages they need, answer otherwise for the same content. */
const OWN = 'smithyd 1';

/** Looks at names and versions only: nothing is loaded before a file needs it. */
export function installedGrammars(): {
  readonly edition: string;
  readonly missing: readonly string[];
} {
  const found = GRAMMARS.map((name) => ({ name, version: versionOf(name) }));
  const words = found.map(({ name, version }) => `${name} ${version ?? '-'}`);
  return {
    edition: [OWN, ...words].join(', '),
    missing: found.flatMap(({ name, version }) => (version === undefined ? [name] : [])),
  };
}

function versionOf(name: string): string | undefined {
  try {
    const path = require.resolve(`${name}/package.json`);
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version?: unknown };
    return String(version);
  } catch {
    return undefined;
  }
}
