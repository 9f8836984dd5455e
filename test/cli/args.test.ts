import { describe, expect, it } from '@jest/globals';
import { readGlobals, readParams } from '../../src/cli/args.js';
import type { CliCommand } from '../../src/core/cli-manifest.js';
import { SmithyError } from '../../src/core/errors.js';

const PAINT: CliCommand = {
  command: 'paint',
  method: 'paint_wall',
  summary: 'Paints a wall.',
  switches: {},
  fixed: {},
  places: [],
  positional: ['wall_id', 'tools'],
  flags: [
    { name: 'wall-id', field: 'wall_id', type: 'string', required: true },
    { name: 'tools', field: 'tools', type: 'list', required: false },
    {
      name: 'colour',
      field: 'colour',
      type: 'string',
      required: false,
      short: 'c',
      choices: ['red'],
    },
    { name: 'coats', field: 'coats', type: 'number', required: false },
    { name: 'rows', field: 'rows', type: 'numbers', required: false },
    { name: 'dry-run', field: 'dry_run', type: 'boolean', required: false },
    { name: 'plan', field: 'plan', type: 'json', required: false },
    { name: 'by', field: 'by', type: 'json', required: false, word: 'name' },
  ],
};

const attempt = (words: readonly string[]): unknown => {
  try {
    return readParams(PAINT, words);
  } catch (error) {
    const { code, message, hint = '' } = SmithyError.from(error);
    return `${code} ${message} ${hint}`;
  }
};

describe('the words of a command', () => {
  it.each([
    ['w1', { wall_id: 'w1' }],
    ['w1 brush roller', { wall_id: 'w1', tools: ['brush', 'roller'] }],
    ['--wall-id w1 --tools a --tools b', { wall_id: 'w1', tools: ['a', 'b'] }],
    ['--wall-id=w1 -c red', { wall_id: 'w1', colour: 'red' }],
    ['w1 --dry-run', { wall_id: 'w1', dry_run: true }],
    ['w1 --dry-run=false', { wall_id: 'w1', dry_run: false }],
    ['w1 --coats 2', { wall_id: 'w1', coats: 2 }],
    ['w1 --rows 2,3 --rows 5', { wall_id: 'w1', rows: [2, 3, 5] }],
    ['w1 --plan {"a":1}', { wall_id: 'w1', plan: { a: 1 } }],
    ['w1 --by ann', { wall_id: 'w1', by: { name: 'ann' } }],
    ['w1 --by {"name":"ann"}', { wall_id: 'w1', by: { name: 'ann' } }],
    ['-- -c --coats', { wall_id: '-c', tools: ['--coats'] }],
    ['-', { wall_id: '-' }],
    ['--wall-id=a=b', { wall_id: 'a=b' }],
  ])('%s are read', (line, params) => {
    expect(attempt(line.split(' '))).toEqual(params);
  });

  it.each([
    ['', 'paint needs WALL-ID'],
    ['w1 --color red', 'Did you mean "--colour"?'],
    ['w1 -c green', 'Choose one of: red.'],
    ['w1 --coats many', '--coats needs a number, not "many".'],
    ['w1 --coats=', 'needs a number'],
    ['w1 --plan {', '--plan needs JSON'],
    ['w1 --coats', '--coats needs a value.'],
    ['w1 --dry-run=1', '--dry-run is true or false, not "1".'],
    ['w1 --dry-run=True', '--dry-run is true or false'],
    ['w1 --dry-run=', '--dry-run is true or false'],
    ['w1 -x', 'paint does not know -x.'],
    ['w1 -', undefined],
  ])('%s: %s', (line, complaint) => {
    const outcome = attempt(line.split(' ').filter((word) => word !== ''));
    if (complaint === undefined) expect(outcome).toEqual({ wall_id: 'w1', tools: ['-'] });
    else expect(outcome).toContain(complaint);
  });
});

describe('flags that every command has', () => {
  it('are taken wherever they stand', () => {
    const { globals, rest } = readGlobals(['--root', '/p', 'paint', '--json', 'w1', '--dialog=d']);
    expect(globals).toMatchObject({ root: '/p', json: true, dialog: 'd', help: false });
    expect(rest).toEqual(['paint', 'w1']);
  });

  it('are not taken from behind a double dash', () => {
    const { globals, rest } = readGlobals(['run', '--', 'ls', '--json', '--help']);
    expect(globals).toMatchObject({ json: false, help: false });
    expect(rest).toEqual(['run', '--', 'ls', '--json', '--help']);
  });

  it('need the value they ask for', () => {
    expect(() => readGlobals(['status', '--root'])).toThrow('--root needs a value');
  });
});
