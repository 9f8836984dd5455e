import { quoted } from '../../core/untrusted-text.js';
import type { Answer } from '../table.js';

type Changes = Answer<'get_changes_since'>;

/** What happened, as lines of markdown; whatever files and pages say is quoted. */
export function changesText(changes: Changes): string[] {
  const { severity, summary, from, to, fresh, evicted = [], cursor } = changes;
  return [
    `**${severity}**: ${summary}`,
    '',
    `From ${from} to ${to}. Go on from here: ${quoted(cursor)}.`,
    ...(fresh ? [] : ['Changes of files may have been missed; ask again in a moment.']),
    ...(evicted.length === 0 ? [] : [`Older entries are gone: ${evicted.join(', ')}.`]),
    ...section('Files', files(changes.files), changes.files?.omitted),
    ...section('Console', said(changes.console), changes.console?.omitted),
    ...section('Network', network(changes.network), changes.network?.omitted),
    ...section('WebSockets', websocket(changes.websocket), changes.websocket?.omitted),
    ...section('Actions', actions(changes.actions), changes.actions?.omitted),
  ];
}

function section(title: string, lines: readonly string[], omitted = 0): string[] {
  if (lines.length === 0 && omitted === 0) return [];
  const more = omitted === 0 ? [] : [`- and ${omitted} more`];
  return ['', `## ${title}`, '', ...lines.map((line) => `- ${line}`), ...more];
}

function files(part: Changes['files']): string[] {
  return (part?.changed ?? []).map(({ path, from, change, by, additions, deletions, ...file }) => {
    const was = from === undefined ? '' : ` (was ${quoted(from)})`;
    const many = file.files === undefined ? '' : `, ${file.files} files`;
    const lines = additions === null || deletions === null ? '' : ` +${additions} -${deletions}`;
    return `${change} ${quoted(path)}${was}${many}${lines} by ${quoted(by)}`;
  });
}

function said(part: Changes['console']): string[] {
  const lines = (all: NonNullable<typeof part>['errors'], level: string) =>
    all.map(({ message, source, count }) => {
      const where = source === null ? '' : ` at ${quoted(source)}`;
      return `${level}${times(count)}: ${quoted(message)}${where}`;
    });
  return part === undefined
    ? []
    : [...lines(part.errors, 'error'), ...lines(part.warnings, 'warning')];
}

function network(part: Changes['network']): string[] {
  if (part === undefined) return [];
  return [
    ...part.failures.map(({ path, status, previous_status: before }) => {
      return `fails: ${quoted(path)} ${status}, was ${before}`;
    }),
    ...part.failing_new_endpoints.map(({ path, status }) => {
      return `fails: ${quoted(path)} ${status}, never asked before`;
    }),
    ...part.degraded.map(({ path, duration_ms: now, baseline_ms: before }) => {
      return `slower: ${quoted(path)} ${Math.round(now)} ms, was ${Math.round(before)} ms`;
    }),
    ...part.new_endpoints.map((path) => `new: ${quoted(path)}`),
  ];
}

function websocket(part: Changes['websocket']): string[] {
  if (part === undefined) return [];
  return [
    ...part.disconnections.map(({ url, close_code: code, close_reason: reason, count }) => {
      const why = reason === null || reason === '' ? '' : ` ${quoted(reason)}`;
      return `closed${times(count)}: ${quoted(url)} ${code ?? ''}${why}`.trimEnd();
    }),
    ...part.errors.map(({ url, message, count }) => {
      return `error${times(count)}: ${quoted(url)} ${quoted(message ?? '')}`;
    }),
    ...part.connections.map((url) => `opened: ${quoted(url)}`),
  ];
}

function actions(part: Changes['actions']): string[] {
  return (part?.actions ?? []).map(({ type, url, target, timestamp }) => {
    const what = [target, url].flatMap((one) =>
      one === undefined || one === null ? [] : [quoted(one)],
    );
    return `${timestamp} ${[quoted(type), ...what].join(' ')}`;
  });
}

function times(count = 1): string {
  return count === 1 ? '' : ` (${count} times)`;
}
