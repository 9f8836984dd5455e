import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { DOORSTEPS, type Doorstep, type Outcome } from '../support/doorsteps.js';

const newProject = projectsPerTest();

/** An agent's day: a message, an edit, somebody else's change, mistakes, and the way back. */
async function day(project: Project, door: Doorstep): Promise<Outcome[]> {
  const said: Outcome[] = [];
  const ask = async (method: string, params: Record<string, unknown> = {}): Promise<Outcome> => {
    const outcome = await door.ask(method, params);
    said.push(outcome);
    return outcome;
  };
  const field = (outcome: Outcome, name: string): unknown =>
    'result' in outcome ? outcome.result[name] : undefined;
  const write = (path: string, text: string): void => writeFileSync(join(project.root, path), text);

  const dialog = await ask('create_dialog', { title: 'A day' });
  const message = await ask('user_message', { content: 'Make it better', message_id: 'm1' });
  const agent = { name: 'tester' };
  const edit = await ask('start_edit', { files: ['src/a.ts', 'src/new.ts'], agent });
  write('src/a.ts', 'export const a = 2;\n');
  write('src/new.ts', 'export const b = "`````";\n');
  await ask('start_edit', { files: ['src/a.ts'], agent: { name: 'another' } });
  await ask('finalize_edit', { edit_id: field(edit, 'edit_id'), rationale: 'better' });
  await ask('finalize_edit', { edit_id: 'NOSUCHEDIT' });
  write('other.txt', 'by hand\n');
  await ask('detect_unknown_modifications');
  await ask('start_edit', { files: ['../out.txt'] });
  await ask('start_edit', { flies: ['a'] });
  await ask('no_such_method');
  await ask('get_session');
  await ask('diff', { from: 'main' });
  await ask('show', { at: String(field(message, 'checkpoint')), path: 'src/a.ts' });
  await ask('blame', { path: 'src/a.ts' });
  await ask('bookmark_add', { name: 'good' });
  await ask('bookmark_add', { name: 'good' });
  await ask('bookmark_list');
  await ask('restore', { checkpoint_id: field(message, 'checkpoint') });
  await ask('restore', { checkpoint_id: 'ffffffffffff' });
  await ask('undo');
  await ask('list_checkpoints', { dialog_id: field(dialog, 'dialog_id'), limit: 3 });
  // What changes are inside of is found out beside the answers, each day at its own pace.
  const isExamined = async (): Promise<boolean> =>
    !JSON.stringify(await door.ask('history', { limit: 20 })).includes('not been examined yet');
  while (!(await isExamined()));
  await ask('history', { limit: 20 });
  await ask('get_session', { dialog_id: 'NOSUCHDIALOG' });
  await ask('get_config');
  return said;
}

/** Ids, hashes, times and the folder are others each day; which is equal to which is not. */
function comparable(outcomes: readonly Outcome[], root: string): unknown {
  const names = new Map<string, string>();
  const rename = (kind: string) => (text: string) => {
    const known = names.get(text) ?? `${kind} ${names.size}`;
    names.set(text, known);
    return known;
  };
  const text = JSON.stringify(outcomes)
    .replaceAll(root, '/project')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, 'time')
    .replace(/"duration_ms":[\d.]+/gu, '"duration_ms":0')
    .replace(/\b[0-9a-f]{64}\b/gu, 'digest')
    .replace(/\b[0-9a-f]{40}\b/gu, rename('hash'))
    .replace(/\b[0-9A-HJKMNP-TV-Z]{26}\b/gu, rename('id'));
  return JSON.parse(text);
}

let first: { readonly name: string; readonly said: unknown } | undefined;

describe.each(Object.entries(DOORSTEPS))('the same day over %s', (name, open) => {
  it('has the same answers', async () => {
    const project = newProject();
    mkdirSync(join(project.root, 'src'));
    writeFileSync(join(project.root, 'src/a.ts'), 'export const a = 1;\n');
    await project.startDaemon();
    const door = await open(project);
    const said = await day(project, door);
    await door.close();
    const codes = said.flatMap((one) => ('error' in one ? [one.error['code']] : []));
    expect(codes).toEqual([
      'EDIT_CONFLICT',
      'EDIT_NOT_FOUND',
      'PATH_OUTSIDE_ROOT',
      'INVALID_PARAMS',
      'METHOD_NOT_FOUND',
      'NAME_TAKEN',
      'CHECKPOINT_NOT_FOUND',
      'DIALOG_NOT_FOUND',
    ]);
    // The restore was undone.
    expect(readFileSync(join(project.root, 'src/a.ts'), 'utf8')).toBe('export const a = 2;\n');
    const present = { name, said: comparable(said, project.root) };
    first ??= present;
    expect(present.said).toEqual(first.said);
  });
});
