import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { toReference } from '../../src/api/reference.js';
import { shrinkage, toSurface, type Surface } from '../../src/api/surface.js';
import { METHODS } from '../../src/api/table.js';

/** The surface as a test may cut pieces out of it. */
interface Mutable {
  methods: Record<
    'status' | 'subscribe',
    {
      on: string[];
      input: { properties: Record<string, unknown>; required?: string[] };
      output: { properties: Record<string, unknown>; required: string[] };
    }
  >;
  errors: { INTERNAL: { rpc: number } };
  events: string[];
}

const checkedIn = JSON.parse(readFileSync('test/api/surface.json', 'utf8')) as Surface;
const present = JSON.parse(JSON.stringify(toSurface(METHODS))) as Surface;

function changed(edit: (surface: Mutable) => void): Surface {
  const copy = structuredClone(present) as unknown;
  edit(copy as Mutable);
  return copy as Surface;
}

describe('what others program against', () => {
  it('has not shrunk', () => {
    expect(shrinkage(checkedIn, present)).toEqual([]);
  });

  it('is checked in as it is now (npm run reference)', () => {
    expect(present).toEqual(checkedIn);
  });

  it('is described in docs/METHODS.md as it is now (npm run reference)', () => {
    expect(readFileSync('docs/METHODS.md', 'utf8')).toBe(toReference(METHODS));
  });

  it('has one sentence for every method', () => {
    for (const { summary } of METHODS) expect(summary).toMatch(/^[A-Z][^\n]*\.$/u);
  });

  it('names every method once', () => {
    const names = METHODS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the guard against shrinking', () => {
  it.each<[string, (surface: Mutable) => void]>([
    ['a method is gone', (surface) => Reflect.deleteProperty(surface.methods, 'status')],
    ['an error code changed', (surface) => (surface.errors.INTERNAL.rpc = 1)],
    ['an event is gone', (surface) => surface.events.pop()],
    [
      'a parameter is newly required',
      ({ methods }) => (methods.subscribe.input.required = ['since']),
    ],
    [
      'a field of an answer is gone',
      ({ methods }) => Reflect.deleteProperty(methods.status.output.properties, 'pid'),
    ],
    [
      'a field of an answer became optional',
      ({ methods }) => methods.status.output.required.shift(),
    ],
    [
      'a field that may be null is of another kind',
      ({ methods }) =>
        (methods.status.output.properties['current_dialog_id'] = {
          anyOf: [{ type: 'number' }, { type: 'null' }],
        }),
    ],
    [
      'a field of an answer may newly be null',
      ({ methods }) =>
        (methods.status.output.properties['root'] = {
          anyOf: [{ type: 'string' }, { type: 'null' }],
        }),
    ],
    ['a transport is gone', ({ methods }) => methods.status.on.pop()],
  ])('notices when %s', (_, edit) => {
    expect(shrinkage(present, changed(edit))).not.toEqual([]);
  });

  it('lets a new method, field and optional parameter pass', () => {
    const grown = changed(({ methods }) => {
      Object.assign(methods, { extra: methods.status });
      methods.subscribe.input.properties['more'] = { type: 'string' };
      methods.status.output.properties['more'] = { type: 'string' };
    });
    expect(shrinkage(present, grown)).toEqual([]);
  });
});
