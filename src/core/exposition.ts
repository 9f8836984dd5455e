/** Prometheus' text form, version 0.0.4. */

export interface Sample {
  /** `_bucket`, `_sum`, `_count`; absent for the family's own name. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All samples of one name, as they must stand together. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly samples: readonly Sample[];
}

export function exposition(families: readonly Family[]): string {
  return families
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help.replace(/\\/gu, '\\\\').replace(/\n/gu, '\\n')}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(({ suffix = '', labels = {}, value }) => {
        return `${name}${suffix}${inBraces(labels)} ${inDigits(value)}`;
      }),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

function inBraces(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replace(/\\/gu, '\\\\').replace(/"/gu, '\\"').replace(/\n/gu, '\\n');
}

function inDigits(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

/** How often something took how long. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** One more than bounds: what was longer than all of them. */
  readonly #counts: number[];
  #sum = 0;

  /** @param bounds rising */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const at = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? this.#bounds.length : at;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  samples(labels: Readonly<Record<string, string>>): Sample[] {
    let count = 0;
    const buckets = this.#counts.map((inside, at): Sample => {
      const bound = this.#bounds[at];
      const le = bound === undefined ? '+Inf' : String(bound);
      return { suffix: '_bucket', labels: { ...labels, le }, value: (count += inside) };
    });
    return [
      ...buckets,
      { suffix: '_sum', labels, value: this.#sum },
      { suffix: '_count', labels, value: count },
    ];
  }
}

const QUANTILES = [0.5, 0.9, 0.99];
/** Quantiles are of the newest ones: what was slow yesterday is not news. */
const REMEMBERED = 256;

/** How long something takes these days. */
export class Summary {
  readonly #newest: number[] = [];
  #sum = 0;
  #count = 0;

  observe(value: number): void {
    this.#newest.push(value);
    if (this.#newest.length > REMEMBERED) this.#newest.shift();
    this.#sum += value;
    this.#count += 1;
  }

  samples(): Sample[] {
    const sorted = this.#newest.toSorted((a, b) => a - b);
    const quantiles = QUANTILES.map((quantile) => ({
      labels: { quantile: String(quantile) },
      value: sorted[Math.ceil(quantile * sorted.length) - 1] ?? NaN,
    }));
    return [
      ...quantiles,
      { suffix: '_sum', value: this.#sum },
      { suffix: '_count', value: this.#count },
    ];
  }
}
