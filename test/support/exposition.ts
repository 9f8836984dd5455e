/** One family as a scraper sees it. */
export interface Scraped {
  readonly type: string;
  readonly help: string;
  /** `name{label="value"}` -> value. */
  readonly samples: ReadonlyMap<string, number>;
}

const COMMENT = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/u;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/u;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/u;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/**
 * Reads Prometheus' text form 0.0.4 and takes nothing that a scraper might refuse: a HELP and a
 * TYPE for each family, its samples together and each once, every line ended.
 */
export function scrape(text: string): Map<string, Scraped> {
  if (!text.endsWith('\n')) throw new Error('the last line is not ended');
  const families = new Map<string, Scraped & { samples: Map<string, number> }>();
  let help: { name: string; text: string } | undefined;
  let current: { name: string; type: string; samples: Map<string, number> } | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const [, what, name = '', rest = ''] = COMMENT.exec(line) ?? [];
    if (what === 'HELP') {
      if (families.has(name)) throw new Error(`${name} comes twice`);
      help = { name, text: rest };
    } else if (what === 'TYPE') {
      if (help?.name !== name) throw new Error(`${name} has no help`);
      if (SUFFIXES[rest] === undefined) throw new Error(`no type: ${line}`);
      current = { name, type: rest, samples: new Map() };
      families.set(name, { type: rest, help: help.text, samples: current.samples });
    } else addSample(line, current);
  }
  checkHistograms(families);
  return families;
}

function addSample(
  line: string,
  family: { name: string; type: string; samples: Map<string, number> } | undefined,
): void {
  const [, name = '', labels = '', digits = ''] = SAMPLE.exec(line) ?? [];
  const suffixes = SUFFIXES[family?.type ?? ''] ?? [];
  if (!suffixes.some((suffix) => name === `${family?.name ?? ''}${suffix}`)) {
    throw new Error(`not where it belongs: ${line}`);
  }
  for (let rest = labels; rest !== '';) {
    const found = LABEL.exec(rest);
    if (found === null) throw new Error(`wrong labels: ${line}`);
    rest = rest.slice(found[0].length);
  }
  const series = line.slice(0, line.lastIndexOf(' '));
  if (family?.samples.has(series) === true) throw new Error(`twice: ${series}`);
  family?.samples.set(series, readValue(digits, line));
}

function readValue(digits: string, line: string): number {
  if (digits === 'NaN') return NaN;
  if (digits === '+Inf' || digits === '-Inf') return digits === '+Inf' ? Infinity : -Infinity;
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/iu.test(digits)) throw new Error(`no number: ${line}`);
  return Number(digits);
}

function checkHistograms(families: ReadonlyMap<string, Scraped>): void {
  for (const [name, family] of families) {
    if (family.type === 'histogram') checkBuckets(name, family);
  }
}

/** They count upwards, and the last one counts all. */
function checkBuckets(name: string, { samples }: Scraped): void {
  const last = new Map<string, number>();
  for (const [series, value] of samples) {
    const [, labels, bound] = /_bucket\{(.*?),?le="([^"]+)"\}$/u.exec(series) ?? [];
    if (labels === undefined) continue;
    if (value < (last.get(labels) ?? 0)) throw new Error(`${series} counts down`);
    last.set(labels, value);
    const braces = labels === '' ? '' : `{${labels}}`;
    if (bound === '+Inf' && samples.get(`${name}_count${braces}`) !== value) {
      throw new Error(`${series} does not count all`);
    }
  }
}
