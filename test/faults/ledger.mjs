/** F111 to F118: the ledger and the journals are not what was written. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import Database from 'libsql';

const ledger = (stage) => stage.path('ledger/events.jsonl');
const journal = (stage) => stage.path('dialogs', stage.dialog, 'journal.sqlite');

/** Some history, and the daemon stopped. */
async function withHistory(stage) {
  await stage.begin();
  for (const text of ['first', 'second']) {
    const before = stage.disk();
    const { checkpoint } = await stage.call('user_message', { content: text });
    stage.acknowledge(checkpoint, before);
    stage.put({ 'a.txt': `${text} answer\n` });
  }
  await stage.daemon.stop();
}

/** Lines are changed by hand; what is wrong is named with its place, and the rest is readable. */
async function wrongLines(stage, change) {
  await withHistory(stage);
  const whole = readFileSync(ledger(stage));
  const lines = whole.toString().trimEnd().split('\n');
  writeFileSync(ledger(stage), `${change(lines).join('\n')}\n`);
  await stage.start({});
  const { events } = await stage.call('history', { limit: 100 });
  assert(
    events.some(({ seq }) => seq === lines.length),
    'later lines cannot be read',
  );
  const { ok, damaged } = await stage.call('verify');
  assert.equal(ok, false, 'nobody noticed');
  const named = damaged.find(({ file }) => file === 'ledger/events.jsonl');
  assert.match(named?.detail ?? '', /line \d+|seq/u);
  await stage.daemon.stop();
  writeFileSync(ledger(stage), whole);
  for (const file of ['segments.bin', 'derived.jsonl', 'index.bin']) {
    rmSync(stage.path('ledger', file), { force: true });
  }
}

/** The journal is made again from the ledger: the same rows as before. */
async function rebuilt(stage, harm) {
  await withHistory(stage);
  const before = rows(stage);
  assert(before.length > 0);
  harm(journal(stage));
  await stage.start({});
  const { ok } = await stage.call('verify');
  assert.equal(ok, true, 'it was not made again');
  await stage.daemon.stop();
  assert.deepEqual(rows(stage), before);
}

function rows(stage) {
  const database = new Database(journal(stage), { readonly: true });
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => name);
  const found = tables
    .filter((name) => ['sessions', 'messages', 'checkpoints', 'session_commits'].includes(name))
    .map((name) => [name, JSON.stringify(database.prepare(`SELECT * FROM ${name}`).all())]);
  database.close();
  return found;
}

export const ledgerAndIndex = [
  {
    id: 'F111',
    what: 'half a line at the end of the ledger',
    how: 'bytes appended by hand',
    fast: true,
    async run(stage) {
      await withHistory(stage);
      appendFileSync(ledger(stage), '{"seq":99,"id":"evt-0000');
      await stage.start({});
      await stage.call('list_dialogs');
      assert(existsSync(stage.path('ledger/quarantine')));
      await stage.save('goes on');
    },
  },
  {
    id: 'F112',
    what: 'a bad line in the middle of the ledger',
    how: 'a changed byte',
    fast: true,
    run: (stage) =>
      wrongLines(stage, (lines) =>
        lines.map((line, at) => (at === 2 ? line.replace('"ts":"2', '"ts":"3') : line)),
      ),
  },
  {
    id: 'F113',
    what: 'a number that is missing, and one that comes twice',
    how: 'a line deleted, another one doubled',
    run: (stage) =>
      wrongLines(stage, (lines) => [...lines.slice(0, 1), lines[0], ...lines.slice(2)]),
  },
  {
    id: 'F114',
    what: 'the ledger is replaced by an older copy',
    how: 'its first half put back',
    async run(stage) {
      await stage.begin();
      const old = readFileSync(ledger(stage));
      stage.put({ 'a.txt': 'after the copy\n' });
      await stage.save('after the copy');
      await stage.daemon.stop();
      writeFileSync(ledger(stage), old);
      await stage.start({});
      const { checkpoints } = await stage.call('list_checkpoints', { dialog_id: stage.dialog });
      assert.equal(checkpoints[0].commit_id, stage.tip, 'a checkpoint was lost with the lines');
      assert.notEqual(await stage.warnings(), '', 'it was taken for good in silence');
    },
  },
  {
    id: 'F115',
    what: 'a damaged journal',
    how: 'garbage in its pages and in its head',
    fast: true,
    run: (stage) =>
      rebuilt(stage, (file) => {
        const bytes = readFileSync(file);
        bytes.fill(0x5a, 0, 100);
        bytes.fill(0xa5, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 2000);
        writeFileSync(file, bytes);
      }),
  },
  {
    id: 'F116',
    what: 'an emptied journal',
    how: 'truncate to nothing',
    fast: true,
    run: (stage) => rebuilt(stage, (file) => truncateSync(file)),
  },
  {
    id: 'F117',
    what: 'the write-ahead file of a journal is gone',
    how: 'SIGKILL, then deleted',
    async run(stage) {
      await withHistory(stage);
      const before = rows(stage);
      await stage.start({});
      const state = stage.disk();
      const { checkpoint } = await stage.call('user_message', { content: 'third' });
      stage.acknowledge(checkpoint, state);
      await stage.daemon.kill();
      for (const end of ['-wal', '-shm']) rmSync(`${journal(stage)}${end}`, { force: true });
      await stage.start({});
      assert.equal((await stage.call('verify')).ok, true);
      await stage.daemon.stop();
      assert.notDeepEqual(rows(stage), before, 'the third message is not in it');
    },
  },
  {
    id: 'F118',
    what: 'another program locks a journal',
    how: 'an exclusive transaction',
    async run(stage) {
      await stage.begin();
      const database = new Database(journal(stage));
      database.exec('BEGIN EXCLUSIVE');
      stage.onHeal(() => database.close());
      stage.put({ 'a.txt': 'all the same\n' });
      // It is a projection: nobody waits for it.
      await stage.save('all the same');
      const before = stage.disk();
      const { checkpoint } = await stage.call('user_message', { content: 'while it is locked' });
      stage.acknowledge(checkpoint, before);
      database.exec('COMMIT');
    },
  },
];
