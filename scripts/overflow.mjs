/**
 * The long version of test/watch/overflow.test.ts: stops a watcher, makes 50,000 files, lets it go
 * on. Usage: node scripts/build.mjs && node scripts/overflow.mjs [files]
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeWhileStopped } from '../test/support/watch-process.mjs';

const count = Number(process.argv[2] ?? 50_000);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-overflow-')));
try {
  mkdirSync(`${root}/.agentsmithy`, { mode: 0o700 });
  const { fresh, notices, known, missed } = await changeWhileStopped(root, count);
  const told = notices.map(({ type, reason }) => `${type} (${reason})`).join(', ');
  console.log(
    `${count} files: ${known} known, ${missed.length} missed, fresh: ${fresh}; told: ${told}`,
  );
  if (missed.length > 0 || !fresh) process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}
