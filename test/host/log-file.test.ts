import { existsSync, readFileSync, rmSync, statSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Clock } from '../../src/core/ports.js';
import { openLogFile, type LogFile, type LogOptions } from '../../src/host/log-file.js';
import { temporaryFolder } from '../support/daemon-project.js';

const clock: Clock = { now: () => 0, monotonic: () => 0 };
let folder: string;
let log: LogFile | undefined;

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  log?.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(options: Partial<LogOptions> = {}): LogFile {
  log = openLogFile({ path: join(folder, 'log'), clock, least: 'info', ...options });
  return log;
}

function lines(name = 'log'): Record<string, unknown>[] {
  const text = readFileSync(join(folder, name), 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the log file', () => {
  it('holds one JSON object per line with time, level and what happened', () => {
    open().write('warn', 'something', { text: 'two\nlines', count: 2 });
    expect(lines()).toEqual([
      {
        at: '1970-01-01T00:00:00.000Z',
        level: 'warn',
        what: 'something',
        text: 'two\nlines',
        count: 2,
      },
    ]);
    expect(statSync(join(folder, 'log')).mode & 0o777).toBe(0o600);
  });

  it('leaves out what is less than asked for', () => {
    const file = open({ least: 'warn' });
    file.write('debug', 'a');
    file.write('info', 'b');
    file.write('error', 'c');
    expect(lines().map(({ what }) => what)).toEqual(['c']);
  });

  it('stays readable line by line when a field is huge', () => {
    const file = open();
    file.write('error', 'huge', { method: 'status', cause: 'ü"\\\n'.repeat(20_000) });
    file.write('info', 'after');
    const [huge, after] = lines();
    expect(huge).toMatchObject({ what: 'huge', method: 'status' });
    expect(after).toMatchObject({ what: 'after' });
    expect(statSync(join(folder, 'log')).size).toBeLessThan(20_000);
  });

  it('moves to numbered files and keeps only so many of them', () => {
    const file = open({ maxBytes: 500, kept: 2 });
    for (let count = 0; count < 100; count++) file.write('info', 'line', { count });
    expect(existsSync(join(folder, 'log.3'))).toBe(false);
    const kept = ['log.2', 'log.1', 'log'].flatMap((name) => lines(name));
    const counts = kept.map(({ count }) => count);
    expect(counts).toEqual(
      Array.from({ length: counts.length }, (_, at) => 100 - counts.length + at),
    );
    for (const name of ['log', 'log.1', 'log.2']) {
      expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(500);
    }
  });

  it('goes on from the size a former daemon left', () => {
    const first = open({ maxBytes: 200 });
    first.write('info', 'before');
    first.close();
    open({ maxBytes: 200 });
    log?.write('info', 'x'.repeat(150));
    expect(lines('log.1').map(({ what }) => what)).toEqual(['before']);
  });

  it('never writes into another file when it cannot move on', () => {
    const file = open({ maxBytes: 200, kept: 1 });
    file.write('info', 'x'.repeat(100));
    // What is in the way cannot be replaced by a file.
    mkdirSync(join(folder, 'log.1/occupied'), { recursive: true });
    for (let times = 0; times < 5; times++) file.write('info', 'y'.repeat(100));
    expect(lines().length).toBeGreaterThan(0);
  });

  it('takes what is written after it was closed without a word', () => {
    const file = open();
    file.close();
    file.write('info', 'late');
    file.close();
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('');
  });
});
