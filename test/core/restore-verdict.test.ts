import { describe, expect, it } from '@jest/globals';
import type { Hash, Path } from '../../src/core/model.js';
import type { Entry, FileStep } from '../../src/core/restore-plan.js';
import { judge, safeParts } from '../../src/core/restore-verdict.js';
import type { Found } from '../../src/core/restore-verdict.js';
import { isTemporary, temporaryName } from '../../src/core/tree-writer.js';

const path = 'a' as Path;
const old: Entry = { mode: '100644', hash: 'old' as Hash };
const wished: Entry = { mode: '100644', hash: 'new' as Hash };
const STEPS: Record<string, FileStep> = {
  create: { kind: 'write', path, ...wished, expect: null },
  replace: { kind: 'write', path, ...wished, expect: old },
  chmod: { kind: 'chmod', path, ...old, mode: '100755', expect: old },
  delete: { kind: 'delete', path, expect: old },
};
const FOUND: Record<string, Found> = {
  nothing: { kind: 'nothing' },
  'what was': { kind: 'entry', ...old },
  'what was, executable': { kind: 'entry', ...old, mode: '100755' },
  'what is wished': { kind: 'entry', ...wished },
  'something else': { kind: 'other' },
  'a moving file': { kind: 'unsettled' },
};

describe('a step of a restore', () => {
  it.each([
    ['create', ['go', 'in_the_way', 'in_the_way', 'unchanged', 'in_the_way', 'in_the_way']],
    ['replace', ['go', 'go', 'changed', 'unchanged', 'changed', 'changed']],
    ['chmod', ['changed', 'go', 'unchanged', 'changed', 'changed', 'changed']],
    ['delete', ['unchanged', 'go', 'changed', 'changed', 'changed', 'changed']],
  ])('of kind %s is judged by what is there', (name, verdicts) => {
    const step = STEPS[name];
    const given = Object.values(FOUND).map((found) => step && judge(step, found));
    expect(given).toEqual(
      verdicts.map((verdict) => (verdict === 'changed' ? 'changed_meanwhile' : verdict)),
    );
  });

  it.each(['', '.', '..', 'a/', '/a', 'a//b', 'a/../b', '.git', 'a/.Git', 'a\0', '\ud800x'])(
    'never touches %j',
    (unsafe) => {
      expect(safeParts(unsafe)).toBeUndefined();
    },
  );

  it('goes through ordinary parts as they are', () => {
    expect(safeParts(' a/.gitignore/..b')).toEqual([' a', '.gitignore', '..b']);
  });
});

describe('the name of a temporary file', () => {
  it('is recognised, and nothing near it is', () => {
    const name = temporaryName('01234567-89ab-cdef-0123-456789abcdef');
    expect(name).toBe('.smithyd-0123456789ab');
    expect([name, `${name}c`, `x${name}`, '.smithyd-notes'].map(isTemporary)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
