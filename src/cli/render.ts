import type { Answer } from '../api/table.js';
import { wantsColour } from '../config.js';
import { bytes, columns, duration, paint, printable, printableJson } from './text.js';

/** The answer for a person; methods without a form of their own are printed as they are. */
export function render(method: string, answer: Readonly<Record<string, unknown>>): string {
  const colour = wantsColour(process.stdout);
  switch (method) {
    case 'status':
      return renderStatus(answer as unknown as Answer<'status'>, colour);
    case 'doctor':
      return renderDoctor(answer as unknown as Answer<'doctor'>, colour);
    case 'get_metrics':
      return (answer as unknown as Answer<'get_metrics'>).text;
    default:
      return printableJson(answer, 2);
  }
}

function renderStatus(status: Answer<'status'>, colour: boolean): string {
  const rows: [string, string][] = [
    ['project', printable(status.root)],
    [
      'daemon',
      `smithyd ${status.version}, process ${status.pid}, up ${duration(status.uptime_ms)}`,
    ],
    ['memory', bytes(status.memory_bytes)],
    ['store', `${bytes(status.store.bytes)} of ${bytes(status.store.limit_bytes)}`],
  ];
  const warnings = status.warnings.map((text) => paint(colour, 'yellow', `! ${printable(text)}`));
  return `${[columns(rows), ...warnings].join('\n')}\n`;
}

function renderDoctor({ checks }: Answer<'doctor'>, colour: boolean): string {
  const rows = checks.map(({ name, ok, detail, repaired }) => {
    const mark = ok ? paint(colour, 'green', 'ok  ') : paint(colour, 'red', 'FAIL');
    return [
      `${mark} ${name}`,
      `${printable(detail)}${repaired === true ? ' (repaired)' : ''}`,
    ] as const;
  });
  return `${columns(rows)}\n`;
}
