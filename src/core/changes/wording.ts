/** Texts of other programs, made short and comparable. */

const ELLIPSIS = '…';
const MOST_PRINTED = 200;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/giu;
const TIMESTAMP =
  /\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2}\b)?/gu;
const LONG_NUMBER = /\d{4,}/gu;

/** Messages that differ only in ids, times and long numbers have one fingerprint. */
export function fingerprint(message: string): string {
  return message.replace(UUID, '{uuid}').replace(TIMESTAMP, '{ts}').replace(LONG_NUMBER, '{n}');
}

/** A fingerprint wherever it is kept for good. */
export function printOf(whole: string): string {
  return shorten(whole, MOST_PRINTED);
}

/** Beyond the cut: a character of several signs may reach that far. */
const LOOK_AHEAD = 64;
const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** At most so many units, the sign for the cut included; never a part of what is seen as one sign. */
export function shorten(text: string, most: number): string {
  const whole = text.slice(0, most + LOOK_AHEAD).replace(/\p{Surrogate}/gu, '\uFFFD');
  if (text.length <= most) return whole;
  const room = most - ELLIPSIS.length;
  const cut = room < 0 ? undefined : characters.segment(whole).containing(room);
  return cut === undefined ? '' : `${whole.slice(0, cut.index)}${ELLIPSIS}`;
}

/**
 * What makes two requests the same endpoint: the path, without query and fragment. Whatever is no
 * address is taken as a path.
 */
export function endpointOf(url: string): string {
  const [bare = ''] = url.split(/[?#]/u, 1);
  const withoutOrigin = bare.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/iu, '');
  return withoutOrigin === '' ? '/' : withoutOrigin;
}
