import { describe, expect, it } from '@jest/globals';
import { authorOf, byOf, EditTable, OpenEdit, type EditFacts } from '../../src/core/edits.js';
import type { DialogId, EditId, Hash, Path } from '../../src/core/model.js';
import type { FileState } from '../../src/core/watching.js';

const path = (text: string): Path => text as Path;
const state = (digit: string): FileState => ({ hash: digit.repeat(40) as Hash, mode: '100644' });

function facts(id: string, more: Partial<EditFacts> = {}): EditFacts {
  return {
    id: id as EditId,
    scope: 'files',
    agent: null,
    tool: null,
    rationale: null,
    runId: null,
    dialog: 'D' as DialogId,
    since: '2026-01-01T00:00:00.000Z',
    detached: false,
    ttlMs: null,
    requestId: null,
    ...more,
  };
}

const files = (id: string, before: Readonly<Record<string, FileState | null>>): OpenEdit =>
  new OpenEdit(facts(id), new Map(Object.entries(before).map(([name, was]) => [path(name), was])));
const project = (id: string): OpenEdit => new OpenEdit(facts(id, { scope: 'project' }));

describe('who a path belongs to', () => {
  it('is the edit that holds it, and nobody once that is closed', () => {
    const table = new EditTable();
    const edit = files('e', { a: state('1') });
    table.open(edit);
    expect(table.owner(path('a'))).toBe(edit);
    expect(table.holder([path('b'), path('a')])).toBe(edit);
    expect(table.owner(path('b'))).toBeUndefined();
    table.close(edit);
    expect(table.owner(path('a'))).toBeUndefined();
    expect(table.size).toBe(0);
  });

  it('is the newest project edit, unless an older one has begun with it', () => {
    const table = new EditTable();
    const [older, newer] = [project('older'), project('newer')];
    table.open(older);
    table.touch(path('a'), state('1'));
    table.open(newer);
    table.touch(path('a'), state('2'));
    table.touch(path('b'), null);
    expect(table.owner(path('a'))).toBe(older);
    expect(table.owner(path('b'))).toBe(newer);
    expect(older.before).toEqual(new Map([['a', state('1')]]));
    table.close(older);
    expect(table.owner(path('a'))).toBe(newer);
  });

  it('is never a project edit while another holds it', () => {
    const table = new EditTable();
    const shell = project('shell');
    const edit = files('e', { a: state('1') });
    table.open(shell);
    table.open(edit);
    table.touch(path('a'), state('1'));
    expect(shell.before.size).toBe(0);
    table.close(edit);
    table.touch(path('a'), state('2'));
    expect(shell.before).toEqual(new Map([['a', state('2')]]));
  });

  it('passes on from a project edit to one that names it, and back when that fails', () => {
    const table = new EditTable();
    const shell = project('shell');
    table.open(shell);
    table.touch(path('a'), state('1'));
    const edit = files('e', { a: state('2'), b: null });
    const passed = table.open(edit);
    expect(passed).toEqual([
      { from: shell, span: { path: 'a', before: state('1'), after: state('2') } },
    ]);
    expect(shell.before.size).toBe(0);
    table.undoOpen(edit, passed);
    expect(table.claimant(path('a'))).toBe(shell);
    expect(table.holder([path('a'), path('b')])).toBeUndefined();
  });

  it('claims nothing that a project edit has not touched', () => {
    const table = new EditTable();
    table.open(project('shell'));
    expect(table.claimant(path('a'))).toBeUndefined();
    expect(table.touch(path('a'), null)).toBe(true);
    expect(table.claimant(path('a'))).toBeDefined();
  });
});

describe('who an edit is by', () => {
  const agent = { name: 'ann', version: '2' };
  it.each<[string, Partial<EditFacts>, string]>([
    ['its agent', { agent, tool: 'write' }, 'agent:ann'],
    ['its tool without an agent', { tool: 'write' }, 'command:write'],
    ['its dialog without either', {}, 'dialog:D'],
    ['the command of a project edit', { scope: 'project', agent, tool: 'npm' }, 'command:npm'],
    ['the agent of a project edit', { scope: 'project', agent }, 'agent:ann'],
    ['a shell otherwise', { scope: 'project' }, 'command:shell'],
  ])('is %s', (_who, more, by) => {
    expect(byOf(facts('e', more))).toBe(by);
  });

  it('keeps a colon in a name', () => {
    const told = authorOf(facts('e', { agent: { name: 'a:b', version: '1' } }));
    expect(told).toEqual({ name: 'a:b', version: '1', kind: 'agent' });
  });
});
