import { describe, expect, it } from '@jest/globals';
import { firstToChange, OpenEdit, type EditFacts, type LeftOpen } from '../../src/core/edits.js';
import type { EditId, Hash, Path } from '../../src/core/model.js';
import type { FileState } from '../../src/core/watching.js';

const PATH = 'a.txt' as Path;

function state(name: string): FileState {
  return { hash: name as Hash, mode: '100644' };
}

function left(id: string, begun?: FileState | null): LeftOpen {
  const edit = new OpenEdit({ id: id as EditId, scope: 'project' } as EditFacts);
  return { edit, begun: new Map(begun === undefined ? [] : [[PATH, begun]]) };
}

describe('of the project edits that a crash left open, the first to change a path', () => {
  const known = state('known');
  const now = state('now');

  const cases: [string, LeftOpen[], string | undefined, FileState | null | undefined][] = [
    ['is the only one there is', [left('1')], '1', known],
    ['is nobody when it was so already', [left('1', now)], undefined, undefined],
    ['is nobody when there was none', [], undefined, undefined],
    ['began from what it found', [left('1', state('found'))], '1', state('found')],
    ['may have found nothing there', [left('1', null)], '1', null],
    ['is the newest when the next found what is known', [left('1'), left('2')], '2', known],
    ['is the oldest when the next found it changed', [left('1'), left('2', now)], '1', known],
    ['keeps it when the next changed it too', [left('1'), left('2', state('x'))], '1', known],
  ];

  it.each(cases)('%s', (...[, edits, id, before]) => {
    const first = firstToChange(edits, PATH, { expected: known, actual: now });
    expect(first?.edit.facts.id).toBe(id);
    expect(first?.before).toEqual(before);
  });
});
