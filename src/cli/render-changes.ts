import type { Answer } from '../api/table.js';
import { counted } from '../core/counted.js';
import { renderPatch } from './diff-view.js';
import type { Look } from './render-history.js';
import { ago, columns, duration, paint, printable, shownPath, type Colour } from './text.js';

type Changes = Answer<'get_changes_since'>;
type Severity = Changes['severity'];

const COLOURS: Readonly<Record<Severity, Colour>> = {
  clean: 'green',
  warning: 'yellow',
  error: 'red',
};

/** What happened, in words: the worst first, and nothing that did not happen. */
function renderChanges(changes: Changes, look: Look): string {
  const { severity, summary, duration_ms: ms, fresh, evicted = [] } = changes;
  const word = paint(look.colour, COLOURS[severity], severity);
  const doubts = [
    ...(fresh ? [] : ['changes of files may have been missed; ask again in a moment']),
    ...(evicted.length === 0 ? [] : [`older entries are gone: ${evicted.join(', ')}`]),
    ...silence(changes),
  ].map((text) => paint(look.colour, 'yellow', `! ${text}`));
  const lines = [
    ...filesPart(changes.files, look),
    ...consolePart(changes.console, look),
    ...networkPart(changes.network, look),
    ...websocketPart(changes.websocket, look),
    ...actionsPart(changes.actions, look),
  ];
  return `${[`${word}  ${summary}  (${duration(ms)})`, ...lines, ...doubts].join('\n')}\n`;
}

/** Nobody tells of a running program, so nothing can be said of one. */
function silence({ telemetry }: Changes): string[] {
  if (telemetry === 'detached') return ['no browser is attached any more'];
  // Somebody who never ran a page does not miss it.
  return [];
}

function filesPart(files: Changes['files'], look: Look): string[] {
  if (files === undefined || files.changed.length === 0) return [];
  const rows = files.changed.map((file) => {
    const many = file.files === undefined ? '' : `  ${file.files} files`;
    const from = file.from === undefined ? '' : ` (was ${shownPath(file.from)})`;
    const left = `${file.change.padEnd(8)}  ${shownPath(file.path)}${from}${many}`;
    const how = file.origin === undefined ? '' : `, ${file.origin}`;
    const who = [file.by, ...(file.also ?? [])].map(printable).join(', ');
    const author = paint(look.colour, file.by === 'unknown' ? 'alarm' : 'dim', `${who}${how}`);
    return [left, `${lineCount(file)}${author}`] as const;
  });
  const texts = files.changed.flatMap(({ diff }) =>
    diff === undefined
      ? []
      : ['', renderPatch(diff, { colour: look.colour, width: undefined }).trimEnd()],
  );
  return ['files', columns(rows, '  '), ...beyond(files.omitted), ...texts];
}

function lineCount({
  additions,
  deletions,
}: {
  additions: number | null;
  deletions: number | null;
}) {
  return additions === null || deletions === null ? '' : `+${additions} -${deletions}  `;
}

function consolePart(section: Changes['console'], look: Look): string[] {
  if (section === undefined) return [];
  const said = (all: typeof section.errors, colour: Colour, what: string) =>
    all.map(({ message, source, count }) => {
      const where = source === null ? '' : paint(look.colour, 'dim', `  ${printable(source)}`);
      return `  ${paint(look.colour, colour, what)}${times(count)}  ${oneLine(message)}${where}`;
    });
  return titled('console', [
    ...said(section.errors, 'red', 'error'),
    ...said(section.warnings, 'yellow', 'warning'),
    ...beyond(section.omitted),
    ...muted(section.noise),
  ]);
}

function networkPart(section: Changes['network'], look: Look): string[] {
  if (section === undefined) return [];
  const failed = paint(look.colour, 'red', 'fails');
  return titled('network', [
    ...section.failures.map(({ path, status, previous_status: before }) => {
      return `  ${failed}  ${printable(path)} ${status} (was ${before})`;
    }),
    ...section.failing_new_endpoints.map(({ path, status }) => {
      return `  ${failed}  ${printable(path)} ${status} (never asked before)`;
    }),
    ...section.degraded.map(({ path, duration_ms: now, baseline_ms: before }) => {
      const slower = paint(look.colour, 'yellow', 'slower');
      return `  ${slower}  ${printable(path)} ${Math.round(now)} ms (was ${Math.round(before)})`;
    }),
    ...section.new_endpoints.map((path) => `  new  ${printable(path)}`),
    ...beyond(section.omitted),
    ...muted(section.noise),
  ]);
}

function websocketPart(section: Changes['websocket'], look: Look): string[] {
  if (section === undefined) return [];
  return titled('websocket', [
    ...section.disconnections.map(({ url, close_code: code, close_reason: reason, count }) => {
      const why = [code, reason].filter((part) => part !== null && part !== '').join(' ');
      const what = paint(look.colour, 'yellow', 'closed');
      return `  ${what}${times(count)}  ${oneLine(url)}  ${oneLine(why)}`;
    }),
    ...section.errors.map(({ url, message, count }) => {
      const what = paint(look.colour, 'yellow', 'error');
      return `  ${what}${times(count)}  ${oneLine(url)}  ${oneLine(message ?? '')}`;
    }),
    ...section.connections.map((url) => `  opened  ${printable(url)}`),
    ...beyond(section.omitted),
    ...muted(section.noise),
  ]);
}

function actionsPart(section: Changes['actions'], look: Look): string[] {
  if (section === undefined) return [];
  return titled('actions', [
    ...section.actions.map(({ type, url, target, timestamp }) => {
      const what = [target, url].flatMap((part) =>
        part === undefined || part === null ? [] : [oneLine(part)],
      );
      const when = paint(look.colour, 'dim', ago(look.now - Date.parse(timestamp)));
      return `  ${printable(type)}  ${what.join('  ')}  ${when}`;
    }),
    ...beyond(section.omitted),
  ]);
}

function times(count = 1): string {
  return count === 1 ? '' : ` ${count} times`;
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines];
}

function beyond(omitted: number | undefined): string[] {
  return omitted === undefined ? [] : [`  and ${omitted} more`];
}

function muted(noise: number | undefined): string[] {
  return noise === undefined ? [] : [`  ${noise} left out as noise`];
}

function oneLine(text: string): string {
  return printable(text.replace(/\s+/gu, ' ').trim());
}

function renderMark({ name, checkpoint }: Answer<'mark'>): string {
  return `${name} is set, with checkpoint ${checkpoint.slice(0, 8)}.\nSee \`smithyd changes --since ${name}\`.\n`;
}

/** `before_auth_refactor  -> clean`. */
function renderMarks({ marks }: Answer<'list_marks'>, look: Look): string {
  if (marks.length === 0) return 'No marks yet; `smithyd mark NAME` sets one.\n';
  const width = Math.max(...marks.map(({ name }) => name.length));
  const lines = marks.map(({ name, created_at: at, checkpoint, severity, summary }) => {
    const age = ago(look.now - Date.parse(at)).padStart(12);
    const health = paint(look.colour, COLOURS[severity], severity);
    const why = severity === 'clean' ? '' : `: ${summary}`;
    const id = paint(look.colour, 'yellow', checkpoint.slice(0, 8));
    return `${name.padEnd(width)}  ${age}  ${id}  -> ${health}${why}`;
  });
  return `${lines.join('\n')}\n`;
}

function renderHealth(
  { severity, summary, since, ...health }: Answer<'get_session_health'>,
  look: Look,
) {
  const word = paint(look.colour, COLOURS[severity], severity);
  const from = since ?? 'the daemon started';
  const rows = [
    ['files', `${health.files_changed} changed, ${health.unknown_changes} of them unannounced`],
    [
      'console',
      `${counted(health.console_errors, 'error')}, ${counted(health.console_warnings, 'warning')}`,
    ],
    ['network', counted(health.network_failures, 'failing endpoint')],
    ['websocket', counted(health.websocket_disconnections, 'disconnection')],
    ['telemetry', TELEMETRY[health.telemetry]],
  ] as const;
  return `${word}  ${summary}  (since ${from}, ${duration(health.duration_ms)})\n${columns(rows, '  ')}\n`;
}

const TELEMETRY: Readonly<Record<Answer<'get_session_health'>['telemetry'], string>> = {
  attached: 'a browser is attached',
  detached: 'no browser is attached any more',
  pushed: 'pushed by programs',
  none: 'nobody tells of a running program; see `smithyd browser --help`',
};

const renderUnmark = ({ name }: Answer<'delete_mark'>): string => `${name} is removed.\n`;

/** Own rules first; what is switched off says so. */
function renderNoise({ rules }: Answer<'configure_noise'>, look: Look): string {
  const rows = rules.map(({ id, category, pattern, reason, enabled }) => {
    const why = reason === undefined ? '' : paint(look.colour, 'dim', `  ${oneLine(reason)}`);
    const off = enabled ? '' : paint(look.colour, 'yellow', 'off  ');
    return [
      `${category.padEnd(9)}  ${printable(id)}`,
      `${off}${printable(pattern)}${why}`,
    ] as const;
  });
  return `${columns(rows)}\n`;
}

type BaselineSummary = Answer<'save_baseline'>;

function holds({ endpoints, console_errors: errors, websockets }: BaselineSummary): string {
  return [
    counted(endpoints, 'endpoint'),
    counted(errors, 'known error'),
    counted(websockets, 'WebSocket'),
  ].join(', ');
}

function renderBaseline(saved: BaselineSummary): string {
  const { name } = saved;
  return `${name} is saved: ${holds(saved)}.\nSee \`smithyd baseline compare ${name}\`.\n`;
}

function renderBaselines({ baselines }: Answer<'list_baselines'>, look: Look): string {
  if (baselines.length === 0) return 'No baselines yet; `smithyd baseline save NAME` makes one.\n';
  const rows = baselines.map((one) => {
    const text = one.description === null ? '' : `  ${oneLine(one.description)}`;
    const age = ago(look.now - Date.parse(one.created_at));
    return [one.name, `${age}  ${holds(one)}${paint(look.colour, 'dim', text)}`] as const;
  });
  return `${columns(rows)}\n`;
}

function renderComparison(compared: Answer<'compare_baseline'>, look: Look): string {
  const { name, status, regressions, improvements, saved_at: at } = compared;
  const colour = status === 'match' ? 'green' : 'red';
  const since = `as of ${ago(look.now - Date.parse(at))}`;
  const lines = (all: typeof regressions, word: string) =>
    all.map(({ kind, what, expected, actual }) => {
      return `  ${word}  ${kind.replace('_', ' ')}  ${oneLine(what)}  ${actual ?? 'nothing'} (was ${expected ?? 'nothing'})`;
    });
  return `${[
    `${paint(look.colour, colour, status)}  ${name} ${since}`,
    ...lines(regressions, paint(look.colour, 'red', 'worse')),
    ...lines(improvements, paint(look.colour, 'green', 'better')),
  ].join('\n')}\n`;
}

const renderForgotten = ({ name }: Answer<'delete_baseline'>): string => `${name} is removed.\n`;

export const CHANGE_RENDERERS = {
  get_changes_since: renderChanges,
  mark: renderMark,
  list_marks: renderMarks,
  delete_mark: renderUnmark,
  get_session_health: renderHealth,
  configure_noise: renderNoise,
  save_baseline: renderBaseline,
  list_baselines: renderBaselines,
  compare_baseline: renderComparison,
  delete_baseline: renderForgotten,
} as const;
