/**
 * Power cuts: the project lies on an ext4 image of its own, which is shut down without a flush of
 * its log in the middle of a call. What was not flushed by then is gone, as it is when the plug is
 * pulled. After that everything that was ever acknowledged must be there.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkLedger, fsck, leftLocks, listAll, startDaemon, treeOf } from './sweep-daemon.mjs';

const IMAGE_BYTES = 256 * 1024 * 1024;
const FILES = 30;
const CALLS = ['create_checkpoint', 'user_message', 'approve', 'restore', 'reset', 'undo'];
/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH, as soon as a line comes in. */
const PULL = [
  'import fcntl, os, struct, sys',
  'fd = os.open(sys.argv[1], os.O_RDONLY)',
  'print("ready", flush=True)',
  'sys.stdin.readline()',
  'fcntl.ioctl(fd, 0x8004587d, struct.pack("I", 2))',
].join('\n');

/** Why it cannot be done here; undefined when it can. */
export function whyNoPowerCut() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs root on Linux';
  for (const program of ['mkfs.ext4', 'mount', 'umount', 'python3']) {
    if (spawnSync('which', [program]).status !== 0) return `${program} is missing`;
  }
  const disk = tryDisk();
  if (disk === undefined) return 'a loop device cannot be mounted';
  disk.remove();
  return undefined;
}

function tryDisk() {
  try {
    return newDisk();
  } catch {
    return undefined;
  }
}

/** An ext4 file system of its own, in a file. */
export function newDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'smithyd-power-'));
  const [image, mount] = [join(folder, 'image'), join(folder, 'mount')];
  const plugIn = () => execFileSync('mount', ['-o', 'loop', image, mount], { stdio: 'pipe' });
  const unmount = () => spawnSync('umount', [mount]).status === 0;
  const remove = () => {
    if (!unmount()) spawnSync('umount', ['-l', mount]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    mkdirSync(mount);
    writeFileSync(image, '');
    truncateSync(image, IMAGE_BYTES);
    execFileSync('mkfs.ext4', ['-q', '-F', image], { stdio: 'pipe' });
    plugIn();
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    mount,
    remove,
    /** Ready to be pulled at any moment. */
    async plug() {
      const python = spawn('python3', ['-c', PULL, mount], { stdio: ['pipe', 'pipe', 'inherit'] });
      const ended = once(python, 'exit');
      await once(python.stdout, 'data');
      return async () => {
        python.stdin.end('\n');
        const [code] = await ended;
        assert.equal(code, 0, 'the file system could not be shut down');
      };
    },
    async plugInAgain() {
      // Children of the daemon notice its end a little later.
      for (let attempt = 0; !unmount(); attempt++) {
        assert(attempt < 200, 'the file system stays busy');
        await pause(50);
      }
      plugIn();
    },
  };
}

export async function powerCuts({ rounds, seed, cli, env, random, tell = () => undefined }) {
  const disk = newDisk();
  const root = join(disk.mount, 'project');
  /** Commit -> path -> blob id, of what was on disk when it was acknowledged. */
  const acknowledged = new Map();
  const files = new Map();
  let interrupted = 0;
  let lostFiles = 0;
  let dialog;
  let daemon;
  mkdirSync(root);
  try {
    for (let round = 1; round <= rounds; round++) {
      daemon = await startDaemon({ root, cli, env });
      if (dialog === undefined) await begin();
      else await lookAround();
      for (let i = random(4); i >= 0; i--) await act(CALLS[random(CALLS.length)]);
      const pull = await disk.plug();
      const acting = act(CALLS[round % CALLS.length]).then(
        () => undefined,
        () => (interrupted += 1),
      );
      await pause(random(60));
      await pull();
      await daemon.kill();
      await acting;
      await disk.plugInAgain();
      tell(`cut ${round}: ${acknowledged.size} acknowledged`);
    }
    daemon = await startDaemon({ root, cli, env });
    await lookAround();
    return { rounds, seed, interrupted, lostFiles, acknowledged: acknowledged.size };
  } finally {
    await daemon?.kill();
    disk.remove();
  }

  async function begin() {
    scribble();
    const opened = await daemon.call('create_dialog', { title: 'power' });
    dialog = opened.dialog_id;
    acknowledged.set(opened.initial_checkpoint, onDisk());
  }

  function scribble() {
    for (let i = 1 + random(FILES); i > 0; i--) {
      const path = `d${random(3)}/f${random(FILES)}`;
      mkdirSync(dirname(join(root, path)), { recursive: true });
      const content = `${random(1e9)} `.repeat(1 + random(300));
      writeFileSync(join(root, path), content);
      files.set(path, blobId(content));
    }
  }

  function idOnDisk(path) {
    try {
      return blobId(readFileSync(join(root, path)));
    } catch {
      return undefined;
    }
  }

  function onDisk() {
    return Object.fromEntries([...files].sort());
  }

  function become(state) {
    files.clear();
    for (const [path, id] of Object.entries(state)) files.set(path, id);
  }

  async function act(method) {
    if (method !== 'undo') scribble();
    const before = onDisk();
    const known = [...acknowledged.keys()];
    const target = known[random(known.length)];
    if (method === 'create_checkpoint') {
      const { commit_id: id } = await daemon.call(method, { message: 'cut' });
      acknowledged.set(id, before);
    } else if (method === 'user_message') {
      acknowledged.set((await daemon.call(method, { content: 'cut' })).checkpoint, before);
    } else if (method === 'approve') {
      acknowledged.set((await daemon.call(method)).approved_commit, before);
    } else if (method === 'restore') {
      await moved(before, await daemon.call(method, { checkpoint_id: target }));
    } else if (method === 'reset') {
      const { reset_to: id, pre_reset_checkpoint: saved } = await daemon.call(method);
      acknowledged.set(saved, before);
      become(stateOf(id));
    } else {
      const answer = await daemon.call(method).catch((error) => {
        if (error.code !== 'CHECKPOINT_NOT_FOUND') throw error;
      });
      if (answer !== undefined) await moved(before, answer);
    }
  }

  /** What was cut off before its answer may have been finished by the next start. */
  function stateOf(commit) {
    return acknowledged.get(commit) ?? treeOf(root, dialog, commit);
  }

  async function moved(before, answer) {
    if (answer.safety_checkpoint !== null) acknowledged.set(answer.safety_checkpoint, before);
    const after = stateOf(answer.restored_to);
    become(after);
    acknowledged.set(answer.new_checkpoint, after);
  }

  /** Nothing is missing, nothing is wrong, and nobody has to help. */
  async function lookAround() {
    const listed = await listAll(daemon, dialog);
    for (const [commit, state] of acknowledged) {
      assert(listed.has(commit), `checkpoint ${commit} is lost`);
      assert.deepEqual(treeOf(root, dialog, commit), state, `checkpoint ${commit} is not whole`);
    }
    checkLedger(root);
    await fsck(root, dialog, env);
    assert.deepEqual(await leftLocks(root), []);
    // The user's files were flushed by nobody: that some are gone shows that the cut was one.
    lostFiles += [...files].filter(([path, id]) => idOnDisk(path) !== id).length;
    const known = [...acknowledged.keys()];
    const target = known[random(known.length)];
    // What the cut left of the files themselves is whatever it is, and is saved too.
    const { new_checkpoint: id } = await daemon.call('restore', { checkpoint_id: target });
    const wanted = acknowledged.get(target);
    assert.deepEqual(treeOf(root, dialog, id), wanted, 'a restore after the cut was not exact');
    become(wanted);
    acknowledged.set(id, wanted);
  }
}

function blobId(content) {
  const bytes = Buffer.from(content);
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
