import type { Answer, MethodName } from '../api/table.js';
import { wantsColour } from '../config.js';
import { counted } from '../core/counted.js';
import type { Look } from './render-history.js';
import {
  bytes,
  columns,
  duration,
  paint,
  printable,
  printableJson,
  shellWord,
  shownPath,
  skippedRow,
} from './text.js';

type Renderers = {
  readonly [Name in MethodName]?: (answer: Answer<Name>, look: Look) => string;
};

const RENDERERS: Renderers = {
  status: renderStatus,
  known_files: renderFiles,
  doctor: renderDoctor,
  verify: renderVerify,
  rescan: ({ files, duration_ms: took, fresh }) =>
    `Looked at ${counted(files, 'file')} in ${took} ms${fresh ? '' : '; some may have been missed'}.\n`,
  get_metrics: ({ text }) => text,
};

/** The answer for a person; methods without a form of their own are printed as they are. */
export async function render(
  method: string,
  answer: Readonly<Record<string, unknown>>,
): Promise<string> {
  const look: Look = {
    colour: wantsColour(process.stdout),
    now: Date.now(),
    aside: (text) => void process.stderr.write(text),
  };
  const renderer = (RENDERERS[method as MethodName] ?? (await laterRenderer(method))) as
    ((answer: unknown, look: Look) => string) | undefined;
  return renderer === undefined ? printableJson(answer, 2) : renderer(answer, look);
}

/** Loaded only for those who look at history or edits: `status` is asked far more often. */
async function laterRenderer(method: string): Promise<unknown> {
  const all: readonly Readonly<Record<string, unknown>>[] = await Promise.all([
    import('./render-history.js').then((one) => one.HISTORY_RENDERERS),
    import('./render-edits.js').then((one) => one.EDIT_RENDERERS),
    import('./render-events.js').then((one) => one.EVENT_RENDERERS),
    import('./render-retention.js').then((one) => one.RETENTION_RENDERERS),
    import('./render-changes.js').then((one) => one.CHANGE_RENDERERS),
  ]);
  return all.find((renderers) => method in renderers)?.[method];
}

function renderStatus(status: Answer<'status'>, { colour }: Look): string {
  const rows: [string, string][] = [
    ['project', printable(status.root)],
    [
      'daemon',
      `smithyd ${status.version}, process ${status.pid}, up ${duration(status.uptime_ms)}`,
    ],
    ['watching', describeWatcher(status.watcher)],
    ['memory', bytes(status.memory_bytes)],
    ['store', `${bytes(status.store.bytes)} of ${bytes(status.store.limit_bytes)}`],
  ];
  const { nested_roots: roots, nested_repositories: repositories } = status.watcher;
  if (roots.length > 0) rows.push(['left out', `${list(roots)} (daemons of their own)`]);
  if (repositories.length > 0) rows.push(['nested', `${list(repositories)} (tracked as content)`]);
  if (status.why !== undefined) rows.push(['why', printable(status.why.sentence)]);
  const warnings = status.warnings.map((text) => paint(colour, 'yellow', `! ${printable(text)}`));
  return `${[columns(rows), ...warnings].join('\n')}\n`;
}

function describeWatcher(watcher: Answer<'status'>['watcher']): string {
  const { state, fresh, files, dirs, engine, skipped, reason, remedy } = watcher;
  const doubt = state === 'ready' && !fresh ? ', looking again' : '';
  const left = skipped === 0 ? '' : `, ${skipped} skipped`;
  const trouble = [reason, remedy].filter((text) => text !== undefined).join(': ');
  const what = `${counted(files, 'file')} in ${counted(dirs, 'folder')}${left}, ${state}${doubt} (${engine})`;
  return trouble === '' ? what : `${what}: ${printable(trouble)}`;
}

function list(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).map(shownPath).join(', ');
  return paths.length > 5 ? `${shown} and ${paths.length - 5} more` : shown;
}

function renderFiles(
  { files, skipped, next, total, fresh }: Answer<'known_files'>,
  look: Look,
): string {
  const lines = files.map(({ mode, hash, size, path }) => {
    return `${mode} ${hash.slice(0, 10)} ${String(size).padStart(10)}  ${shownPath(path)}`;
  });
  const left = skipped.map((one) => skippedRow(one, look));
  const more = next === undefined ? '' : `; more: the same with --after ${shellWord(next)}`;
  const doubt = fresh ? '' : ', not certain to be complete';
  return `${[...lines, ...left, `${files.length} of ${counted(total, 'file')}${doubt}${more}`].join('\n')}\n`;
}

function renderVerify({ files, damaged }: Answer<'verify'>, { colour }: Look): string {
  if (damaged.length === 0) return `All ${files} files are what was written.\n`;
  const rows = damaged.map(({ file, detail }) => {
    return [paint(colour, 'red', printable(file)), printable(detail)] as const;
  });
  return `${columns(rows)}\n`;
}

function renderDoctor({ checks }: Answer<'doctor'>, { colour }: Look): string {
  const rows = checks.map(({ name, ok, detail, repaired }) => {
    const mark = ok ? paint(colour, 'green', 'ok  ') : paint(colour, 'red', 'FAIL');
    return [
      `${mark} ${name}`,
      `${printable(detail)}${repaired === true ? ' (repaired)' : ''}`,
    ] as const;
  });
  return `${columns(rows)}\n`;
}
