/** Every verb of the table once, with real content, so that whatever a verb might run, it runs. */
import { join } from 'node:path';
import { METHODS } from '../../dist/api/table.js';

/** Ends the daemon or turns the connection into another one. */
const NOT_HERE = new Set(['shutdown', 'open_mcp']);

/** Which methods were answered; the names of those that nobody here knows how to call are a failure. */
export async function callEverything({ client, put, archive }) {
  const must = (method, params = {}) => client.must(method, params);
  const { dialog_id: dialog, initial_checkpoint: initial } = await must('create_dialog');
  const called = new Set(['create_dialog']);
  const call = (method, params) => {
    called.add(method);
    return must(method, params);
  };

  await call('use_dialog', { dialog_id: dialog });
  put({ 'src/app.ts': 'export const answer = 43;\n', 'new.bin': 'v2\r\n' });
  await call('detect_unknown_modifications');
  await call('validate_files', { files: ['src/app.ts'] });
  await call('handle_unknown_changes', { strategy: 'integrate' });
  const { commit_id: second } = await call('create_checkpoint', { message: '--exec=evil' });
  await call('user_message', { content: 'change it; $(touch marker) `id`' });

  const { edit_id: first } = await call('start_edit', { files: ['src/app.ts'] });
  put({ 'src/app.ts': 'export const answer = 44;\n' });
  await call('list_edits');
  await call('finalize_edit', { edit_id: first });
  const { edit_id: other } = await must('start_edit', { scope: 'project' });
  put({ 'readme.txt': 'gone wrong\n' });
  await call('abort_edit', { edit_id: other });

  await call('blame', { path: 'src/app.ts' });
  const { events } = await call('history');
  const event = events[0].id;
  await call('show', { at: event, path: 'src/app.ts' });
  await call('diff', { from: initial });
  await call('diff', { from: initial, to: second, format: 'side_by_side' });
  await call('milestone_add', { title: 'm' });
  const { milestones } = await call('milestone_list');
  await call('milestone_show', { id: milestones[0].id });
  await call('create_file_checkpoint', { files: ['src/app.ts'] });
  await call('load_file_checkpoint');
  await call('cleanup_checkpoints');

  await call('bookmark_add', { name: 'b', event });
  await call('bookmark_list');
  await call('note', { text: 'n' });
  await call('record_eval', { name: 'e', passed: true }).catch(() => client.call('record_eval'));
  await call('mark', { name: 'm1' });
  await call('list_marks');
  await call('get_changes_since', { include: ['files'], detail: 'hunks' });
  await call('get_session_health');
  await call('delete_mark', { name: 'm1' });

  await call('get_session');
  await call('restore', { checkpoint_id: initial });
  await call('undo');
  await call('redo');
  await call('approve');
  put({ 'src/app.ts': 'export const answer = 45;\n' });
  await call('create_checkpoint');
  await call('reset');
  await call('rewind', { target: 'b' });
  await call('bookmark_remove', { name: 'b' });
  await call('list_sessions', { all: true });
  await call('list_checkpoints');
  await call('list_dialogs');

  const { id: snapshot } = await call('snapshot_save');
  await call('snapshot_list');
  await call('snapshot_show', { id: snapshot });
  await call('snapshot_export', { id: snapshot, to: join(archive, 's.tar.zst') });
  await call('snapshot_import', { from: join(archive, 's.tar.zst') });

  await call('push_telemetry', { console: [{ level: 'error', message: '$(id)' }] });
  await call('configure_noise', {});
  await call('save_baseline', { name: 'base' });
  await call('compare_baseline', { name: 'base' });
  await call('list_baselines');
  await call('delete_baseline', { name: 'base' });

  await call('known_files');
  await call('rescan');
  await call('git_operation', { operation: 'checkout' }).catch(() => undefined);
  await call('status');
  await call('get_config');
  await call('update_config', { maxFileBytes: 1_000_000 });
  await call('get_metrics');
  await call('subscribe');
  await call('viewer_url').catch(() => undefined);
  await call('verify');
  await call('doctor', { repair: true });
  await call('reset_known_state');
  await call('gc');
  await must('create_dialog');
  await call('delete_dialog', { dialog_id: dialog });

  const left = METHODS.map(({ name }) => name).filter(
    (name) => !called.has(name) && !NOT_HERE.has(name),
  );
  if (left.length > 0) throw new Error(`nobody tried ${left.join(', ')}`);
  return called.size;
}
