import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

/** A line that must not stand in a folder, and the rule that says so. */
const PLANTED = [
  { folder: 'core', code: "import '../host/clock.js';", rule: 'core-may-import-only-itself' },
  { folder: 'core', code: "import 'node:fs';", rule: 'pure-folders-do-no-io' },
  { folder: 'workspace', code: "import 'node:net';", rule: 'pure-folders-do-no-io' },
  { folder: 'core', code: "import 'libsql';", rule: 'pure-folders-need-no-package-but-zod' },
  { folder: 'host', code: "import '../api/table.js';", rule: 'host-may-import-only-core' },
  { folder: 'api', code: "import '../host/lock.js';", rule: 'api-may-import-only-core-workspace' },
  { folder: 'cli', code: "import '../api/table.js';", rule: 'the-command-line-starts-light' },
  { folder: 'api', code: "import '../daemon.js';", rule: 'only-the-entries-compose' },
  { folder: 'core', code: "import './planted-8.js';", rule: 'no-cycles' },
].map((planted, number) => ({ ...planted, file: `src/${planted.folder}/planted-${number}.ts` }));

interface Violation {
  readonly from: string;
  readonly rule: { readonly name: string };
}

let copy: string;
let violations: readonly Violation[];

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'smithyd-layers-'));
  for (const name of ['src', 'tsconfig.json', 'package.json', '.dependency-cruiser.cjs']) {
    cpSync(name, join(copy, name), { recursive: true });
  }
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  for (const { file, code } of PLANTED) writeFileSync(join(copy, file), `${code}\n`);
  const cruise = spawnSync(
    process.execPath,
    [
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      'src',
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'json',
    ],
    { cwd: copy, encoding: 'utf8', maxBuffer: 1 << 28 },
  );
  const output = JSON.parse(cruise.stdout) as { summary: { violations: Violation[] } };
  violations = output.summary.violations;
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('the layer rules', () => {
  it('find nothing in the sources as they are', () => {
    expect(violations.filter(({ from }) => !from.includes('planted-'))).toEqual([]);
  });

  it.each(PLANTED)('catch a planted line in $folder: $code', ({ file, rule }) => {
    const caught = violations.filter(({ from }) => from === file).map(({ rule: { name } }) => name);
    expect(caught).toContain(rule);
  });
});
