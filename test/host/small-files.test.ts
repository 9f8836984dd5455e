import { afterEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSummedFile } from '../../src/host/json-file.js';
import { temporaryFolder } from '../support/daemon-project.js';

describe('a small file', () => {
  const folder = temporaryFolder();
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is not replaced by one that could not be read again', () => {
    const file = openSummedFile(join(folder, 'list.json'));
    file.write(['old']);
    expect(() => file.write(['x'.repeat(9 * 1024 * 1024)])).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
    );
    expect(file.read()).toEqual(['old']);
  });
});
