/** How many columns a terminal gives to a text. Control characters must be gone before. */

const PLAIN = /^[ -~]*$/u;
const ZERO = /^(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7ff]$/u;
/** East Asian wide and full-width letters; pictures that are shown as such by default. */
const WIDE =
  /^[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u4dbf\u4dc0-\u4dff\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d37f}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;
const PICTURE = /^(?:\p{Extended_Pictographic}.*\ufe0f|\p{Emoji_Presentation})/su;

const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' });

export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of clusters.segment(text)) width += clusterWidth(segment);
  return width;
}

/** Signs that are drawn as one; a flag or a picture with its modifiers takes two columns. */
function clusterWidth(cluster: string): number {
  if (cluster.length > 1 && PICTURE.test(cluster)) return 2;
  let width = 0;
  for (const char of cluster) width += charWidth(char);
  return width;
}

function charWidth(char: string): number {
  if (ZERO.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}

interface Piece {
  readonly text: string;
  readonly width: number;
}

/** The text in the smallest parts that may stand on different lines, none wider than `limit`. */
function* piecesOf(text: string, limit: number): Generator<Piece> {
  for (const { segment } of clusters.segment(text)) {
    const width = clusterWidth(segment);
    if (width <= limit) yield { text: segment, width };
    else for (const char of segment) yield { text: char, width: charWidth(char) };
  }
}

/**
 * Lines of at most `width` (2 or more) columns. More than `rows` of them are cut, with an ellipsis at
 * the end of the last one.
 */
export function wrap(text: string, width: number, rows: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const piece of piecesOf(text, width)) {
    if (used + piece.width > width) {
      if (lines.length === rows - 1) return [...lines, `${shorten(line, width - 1)}…`];
      lines.push(line);
      line = '';
      used = 0;
    }
    line += piece.text;
    used += piece.width;
  }
  return [...lines, line];
}

/** As much of the beginning as fits, without any sign of the cut. */
function shorten(text: string, width: number): string {
  let kept = '';
  let used = 0;
  for (const piece of piecesOf(text, Math.max(width, 1))) {
    used += piece.width;
    if (used > width) break;
    kept += piece.text;
  }
  return kept;
}

/** The text on one line of at most `width` columns. */
export function fit(text: string, width: number): string {
  return wrap(text, width, 1)[0] ?? '';
}

/** Filled with spaces up to `width` columns. */
export function padDisplay(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}
