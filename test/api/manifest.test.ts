import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { toCliManifest } from '../../src/api/manifest.js';
import { method } from '../../src/api/method.js';
import { METHODS } from '../../src/api/table.js';

const row = method({
  name: 'paint_wall',
  summary: 'Paints a wall.',
  effect: 'write',
  on: ['cli'],
  input: z.strictObject({
    wall_id: z.string().describe('Which one.'),
    colour: z.enum(['red', 'blue']).optional(),
    coats: z.int().optional(),
    dry_run: z.boolean().optional(),
    tools: z.array(z.string()).optional(),
    plan: z.strictObject({ a: z.int() }).optional(),
  }),
  output: z.object({}),
  cli: { command: 'paint', positional: ['wall_id', 'tools'], short: { c: 'colour' } },
  run: () => ({}),
});

describe('the command line’s view of a method', () => {
  it('has a flag for every parameter, typed as its schema says', () => {
    expect(toCliManifest([row], '1.2.3')).toEqual({
      version: '1.2.3',
      commands: [
        {
          command: 'paint',
          method: 'paint_wall',
          summary: 'Paints a wall.',
          switches: {},
          fixed: {},
          places: [],
          positional: ['wall_id', 'tools'],
          flags: [
            {
              name: 'wall-id',
              field: 'wall_id',
              type: 'string',
              required: true,
              help: 'Which one.',
            },
            {
              name: 'colour',
              field: 'colour',
              type: 'string',
              required: false,
              short: 'c',
              choices: ['red', 'blue'],
            },
            { name: 'coats', field: 'coats', type: 'number', required: false },
            { name: 'dry-run', field: 'dry_run', type: 'boolean', required: false },
            { name: 'tools', field: 'tools', type: 'list', required: false },
            { name: 'plan', field: 'plan', type: 'json', required: false },
          ],
        },
      ],
    });
  });

  it('leaves out methods that have no command', () => {
    const { cli: _, ...without } = row;
    expect(toCliManifest([without], '1').commands).toEqual([]);
  });

  it('gives every command of the table a name of its own and a flag for each position', () => {
    const { commands } = toCliManifest(METHODS, '1');
    const names = commands.map(({ command }) => command);
    expect(new Set(names).size).toBe(names.length);
    for (const { positional, flags } of commands) {
      const fields = flags.map(({ field }) => field);
      expect(fields).toEqual(expect.arrayContaining([...positional]));
    }
  });
});
