import { describe, expect, it } from '@jest/globals';
import { messageSubject } from '../../src/core/messages.js';

const BEFORE = 'Before user message: ';

describe('the subject of a checkpoint', () => {
  it('is the first 50 characters of a message on one line', () => {
    expect(messageSubject('  Make it\n faster ')).toBe(`${BEFORE}Make it faster`);
    expect(messageSubject('x'.repeat(50))).toBe(BEFORE + 'x'.repeat(50));
    expect(messageSubject('x'.repeat(51))).toBe(`${BEFORE}${'x'.repeat(50)}...`);
    expect(messageSubject('😀'.repeat(51))).toBe(`${BEFORE}${'😀'.repeat(50)}...`);
  });

  it('has no half of what stands for a secret', () => {
    const said = `Deploy it to the server with password=[redacted:password:1] today`;
    expect(messageSubject(said)).toBe(`${BEFORE}Deploy it to the server with password=...`);
    expect(messageSubject(`${'x'.repeat(24)} [redacted:aws-key:12345] and`)).toBe(
      `${BEFORE}${'x'.repeat(24)} [redacted:aws-key:12345] ...`,
    );
  });
});
