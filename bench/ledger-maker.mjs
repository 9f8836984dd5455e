/**
 * Writes a ledger of any length as months of work would have left it: many dialogs, of which most are
 * deleted by now, agents, files, edits of two lines each, a message with its checkpoint every twenty
 * edits. The chain is whole. Goes on after the lines that a daemon wrote; needs a build.
 */
import { closeSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { encodeLine, hashLine } from '../dist/ledger/line.js';
import { pathOf } from './source-tree.mjs';

const SEGMENT_BYTES = 64 * 1024 * 1024;
const DIALOG_EVENTS = 5_000;
const EDITS_A_MESSAGE = 20;
const AGENTS = ['claude', 'codex', 'aider', 'cursor', 'gemini'];
const ACTIONS = ['edit_replace', 'edit_insert', 'edit_delete', 'file_create'];
const EMPTY = {
  run_id: null,
  files: [],
  diff_path: null,
  affected_lines: [],
  semantic_block: null,
  rationale: null,
  artifacts: [],
  snapshot_ref: null,
  bookmark: null,
};

/** `live`: dialogs that the store has, with the tip of each. Answers the size of it all. */
export function makeLedger(folder, { events, live, files = 10_000 }) {
  const active = join(folder, 'events.jsonl');
  const lines = readFileSync(active, 'utf8').trimEnd().split('\n');
  let seq = lines.length;
  let prev = hashLine(Buffer.from(lines.at(-1)));
  let time = Date.parse('2026-01-01T00:00:00Z');
  let segment = 0;
  let file = openSync(active, 'a');
  let size = readFileSync(active).length;
  let total = size;
  let waiting = [];
  let waitingBytes = 0;

  function flush() {
    writeSync(file, Buffer.concat(waiting));
    waiting = [];
    size += waitingBytes;
    waitingBytes = 0;
    if (size < SEGMENT_BYTES) return;
    closeSync(file);
    renameSync(active, join(folder, `events-${String(++segment).padStart(6, '0')}.jsonl`));
    file = openSync(active, 'a', 0o600);
    size = 0;
  }

  function write(event, more = 0) {
    seq += 1;
    time += 3_000 + (seq % 17) * 100;
    const id = `evt-${String(seq).padStart(6, '0')}`;
    const ts = new Date(time).toISOString();
    const line = encodeLine({ seq, id, ts, ...EMPTY, ...event, prev }, more);
    prev = hashLine(line);
    waiting.push(line, Buffer.from('\n'));
    waitingBytes += line.length + 1;
    total += line.length + 1;
    if (waitingBytes > 1024 * 1024) flush();
    return id;
  }

  const end = seq + events;
  const gone = Math.max(0, Math.ceil(events / DIALOG_EVENTS) - live.length);
  for (let number = 0; number < gone + live.length; number++) {
    const dialog = number < gone ? pastDialog(number) : live[number - gone];
    const last = number === gone + live.length - 1 ? end : Math.min(end, seq + DIALOG_EVENTS);
    const isPast = number < gone;
    work(dialog, { isPast, until: isPast ? last - 1 : last });
    if (isPast) write(fact(dialog, 'dialog', { what: 'deleted' }));
  }
  flush();
  closeSync(file);
  return { events: seq, bytes: total };

  function work(dialog, { isPast, until }) {
    if (isPast)
      write(fact(dialog, 'dialog', { what: 'created', title: 'past', initial: dialog.tip }));
    for (let message = 0; seq < until; message++) {
      if (until - seq > 2 * EDITS_A_MESSAGE + 2) {
        write(
          {
            ...fact(dialog, 'save', { what: 'saved', commit: dialog.tip, kind: 'message' }),
            message: 'Before user message: go on',
          },
          1,
        );
        write({
          ...fact(dialog, 'user', { what: 'message', index: message }),
          content: 'go on',
          checkpoint: dialog.tip,
          message_id: null,
        });
      }
      for (let edit = 0; edit < EDITS_A_MESSAGE && seq < until; edit++) {
        if (until - seq === 1) write(fact(dialog, 'dialog', { what: 'used' }));
        else change(dialog);
      }
    }
  }

  function change(dialog) {
    const name = AGENTS[seq % AGENTS.length];
    const path = pathOf((seq * 7919) % files);
    const id = ulidOf(seq);
    const author = { name, version: null, kind: 'agent' };
    const shared = {
      author,
      branch: 'session_1',
      dialog_id: dialog.id,
      session: 'session_1',
      files: [path],
    };
    const before = blobOf(seq);
    const facts = {
      ...{
        id,
        scope: 'files',
        agent: { name, version: null },
        tool: null,
        rationale: null,
        runId: null,
      },
      ...{
        dialog: dialog.id,
        since: new Date(time).toISOString(),
        detached: false,
        ttlMs: null,
        requestId: null,
      },
    };
    const opened = write({
      ...{ ...shared, action_type: 'edit_started', parent_event_id: null, changes: [] },
      edit: {
        what: 'started',
        id,
        facts,
        before: [[path, { hash: before, mode: '100644' }]],
        newFolders: [],
      },
    });
    const at = `evt-${String(seq + 1).padStart(6, '0')}`;
    write({
      ...{ ...shared, action_type: ACTIONS[seq % 13 === 0 ? 3 : seq % 3], parent_event_id: opened },
      ...{ diff_path: `ledger/diffs/diff-${at}.patch`, affected_lines: [3, 4, 5] },
      changes: [
        { path, before, after: blobOf(seq + 1), mode_before: '100644', mode_after: '100644' },
      ],
      ...{ by: `agent:${name}`, told: { change: 'modified', additions: 3, deletions: 1 } },
      edit: { id, what: 'finalized' },
    });
  }
}

function fact({ id }, action_type, told) {
  const author = { name: 'smithyd', version: '0.1.0', kind: 'daemon' };
  const place = { dialog_id: id, session: 'session_1', branch: 'session_1' };
  return {
    author,
    action_type,
    ...place,
    parent_event_id: null,
    changes: [],
    skipped: [],
    fact: told,
  };
}

const pastDialog = (number) => ({ id: ulidOf(number), tip: blobOf(number) });
const ulidOf = (number) => `01M7${String(number).padStart(22, '0')}`;
const blobOf = (number) =>
  Math.imul(number, 2654435761).toString(16).replace('-', 'a').padStart(8, '0').repeat(5);
