/** What a browser is shown until there is a viewer. Every word of others is escaped. */
export interface PageFacts {
  readonly root: string;
  readonly dialogs: readonly { readonly title: string; readonly active_session: string | null }[];
  readonly sessions: readonly {
    readonly session_name: string;
    readonly status: string;
    readonly created_at: string;
    readonly checkpoints_count: number;
  }[];
}

export function page({ root, dialogs, sessions }: PageFacts): string {
  return document([
    `<h1>smithyd</h1><p>Watching ${text(root)}. The viewer is not built yet; this is what there is.</p>`,
    '<h2>Dialogs</h2>',
    list(
      dialogs.map(({ title, active_session }) => `${title} (${active_session ?? 'nothing open'})`),
    ),
    '<h2>Sessions of the current dialog</h2>',
    list(
      sessions.map(
        ({ session_name: name, status, created_at: at, checkpoints_count: count }) =>
          `${name}: ${status}, ${count} checkpoints, since ${at}`,
      ),
    ),
  ]);
}

/** Shown for the blink between the exchange of a code and the page itself. */
export function welcome(): string {
  return document(['<p><a href="/">Go on</a></p>']);
}

function document(parts: readonly string[]): string {
  return [
    '<!doctype html>',
    '<html lang="en"><meta charset="utf-8"><title>smithyd</title>',
    ...parts,
    '</html>',
    '',
  ].join('\n');
}

function list(items: readonly string[]): string {
  if (items.length === 0) return '<p>None.</p>';
  return `<ul>${items.map((item) => `<li>${text(item)}</li>`).join('')}</ul>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Isolated, so that marks for the direction of text end with it. */
function text(raw: string): string {
  return `<bdi>${raw.replace(/[&<>"']/gu, (sign) => ENTITIES[sign] ?? '')}</bdi>`;
}
