const LONGEST_TITLE = 50;
/** What stands for a secret (`core/redaction`). Half of one would be taken for a value again. */
const STAND_IN = /\[redacted:[a-z-]+:\d+\]/gu;

/** The subject of a message's checkpoint: its first 50 characters, on one line. */
export function messageSubject(content: string): string {
  const line = content.replace(/\s+/gu, ' ').trim();
  const title = Array.from(line).slice(0, LONGEST_TITLE).join('');
  if (title === line) return `Before user message: ${title}`;
  const halved = [...line.matchAll(STAND_IN)].find(
    ({ 0: whole, index }) => index < title.length && index + whole.length > title.length,
  );
  return `Before user message: ${title.slice(0, halved?.index)}...`;
}
