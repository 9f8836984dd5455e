import { shorten } from '../../core/changes/wording.js';

/** As long as the daemon keeps a text; what is longer need not travel. */
const MOST_CHARACTERS = 2_000;

export function bounded(text: string, most = MOST_CHARACTERS): string {
  return text.length <= most ? text : shorten(text, most);
}

/** An address as the daemon takes it. The content of `data:` is no address of anything. */
export function boundedUrl(url: string): string {
  return url.startsWith('data:') ? 'data:' : bounded(url);
}
