const LONGEST_TITLE = 50;

/** The subject of a message's checkpoint: its first 50 characters, on one line. */
export function messageSubject(content: string): string {
  const characters = Array.from(content.replace(/\s+/gu, ' ').trim());
  const cut = characters.length > LONGEST_TITLE;
  return `Before user message: ${characters.slice(0, LONGEST_TITLE).join('')}${cut ? '...' : ''}`;
}
