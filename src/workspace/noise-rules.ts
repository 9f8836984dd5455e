import {
  BUILT_IN,
  createNoiseFilter,
  type Matching,
  type NoiseFilter,
  type NoiseRule,
} from '../core/changes/noise.js';
import type { Config } from '../core/config.js';
import { SmithyError } from '../core/errors.js';
import { didYouMean, nearest } from '../core/nearest.js';
import type { LiveSettings } from './settings.js';
import type { Telemetry } from './telemetry.js';

export interface NoiseDeps {
  readonly settings: LiveSettings;
  readonly telemetry: Telemetry;
  /** For patterns of the project: whoever wrote them may mean harm. */
  readonly safely: Matching;
}

export interface NoiseRequest {
  readonly add?: readonly NoiseRule[] | undefined;
  readonly remove?: readonly string[] | undefined;
  readonly enable?: readonly string[] | undefined;
  readonly disable?: readonly string[] | undefined;
}

const MOST_RULES = 200;

/** What is no news, kept in the settings. */
export class NoiseRules {
  readonly #deps: NoiseDeps;
  #problems: readonly string[] = [];

  constructor(deps: NoiseDeps) {
    this.#deps = deps;
    this.#apply(deps.settings.config());
    deps.settings.onChange((config) => {
      this.#apply(config);
      return Promise.resolve();
    });
  }

  /** Rules in the settings that cannot be used, one sentence each. */
  warnings(): readonly string[] {
    return this.#problems;
  }

  async configure(request: NoiseRequest) {
    const { add = [], remove = [], enable = [], disable = [] } = request;
    const { rules, disabled } = this.#deps.settings.config().noise;
    for (const { pattern } of add) this.#requireUsable(pattern);
    for (const id of remove)
      this.#requireKnown(
        id,
        rules.map((rule) => rule.id),
      );
    for (const id of [...enable, ...disable]) this.#requireKnown(id, this.#ids());
    const gone = new Set([...remove, ...add.map(({ id }) => id)]);
    const next = [...rules.filter(({ id }) => !gone.has(id)), ...add];
    if (next.length > MOST_RULES) throw tooMany();
    const off = new Set([...disabled.filter((id) => !enable.includes(id)), ...disable]);
    for (const id of remove) off.delete(id);
    const isChanged = add.length + remove.length + enable.length + disable.length > 0;
    if (isChanged) await this.#deps.settings.update({ noise: { rules: next, disabled: [...off] } });
    return this.list();
  }

  list() {
    const { rules, disabled } = this.#deps.settings.config().noise;
    const told = (builtin: boolean) => (rule: NoiseRule) => {
      return { ...rule, builtin, enabled: !disabled.includes(rule.id) };
    };
    return { rules: [...rules.map(told(false)), ...BUILT_IN.map(told(true))] };
  }

  #apply({ noise }: Config): void {
    const isOn = ({ id }: NoiseRule): boolean => !noise.disabled.includes(id);
    const usable = noise.rules.filter(
      (rule) => isOn(rule) && this.#whyUnusable(rule.pattern) === undefined,
    );
    this.#problems = noise.rules.flatMap(({ id, pattern }) => {
      const why = this.#whyUnusable(pattern);
      return why === undefined
        ? []
        : [`config.json: the pattern of noise rule ${id} cannot be used: ${why}.`];
    });
    const own = createNoiseFilter(usable, this.#deps.safely);
    const builtIn = createNoiseFilter(BUILT_IN.filter(isOn), (pattern) => {
      const expression = new RegExp(pattern, 'iu');
      return (text) => expression.test(text);
    });
    const filter: NoiseFilter = {
      find: (category, told) => own.find(category, told) ?? builtIn.find(category, told),
    };
    this.#deps.telemetry.judge(filter);
  }

  #whyUnusable(pattern: string): string | undefined {
    try {
      this.#deps.safely(pattern);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #requireUsable(pattern: string): void {
    const why = this.#whyUnusable(pattern);
    if (why === undefined) return;
    throw new SmithyError(
      'INVALID_PARAMS',
      `The pattern ${JSON.stringify(pattern.slice(0, 100))} cannot be used: ${why}.`,
      {
        hint: 'Write it in RE2 syntax: no look-around, no back references.',
        data: { issues: [{ path: 'add', message: why }] },
      },
    );
  }

  #ids(): string[] {
    return [...this.#deps.settings.config().noise.rules, ...BUILT_IN].map(({ id }) => id);
  }

  #requireKnown(id: string, known: readonly string[]): void {
    if (known.includes(id)) return;
    const near = nearest(id, known);
    throw new SmithyError(
      'INVALID_PARAMS',
      `There is no noise rule ${id} that this can be done to.`,
      {
        hint:
          didYouMean(near) ??
          'For the list see `smithyd noise`, or call configure_noise without parameters.',
        data: { issues: [{ path: 'id', message: `no rule ${id}` }], near },
      },
    );
  }
}

function tooMany(): SmithyError {
  return new SmithyError('LIMIT_EXCEEDED', `There can be ${MOST_RULES} noise rules.`, {
    hint: 'Remove some that are not needed.',
    data: { limit: 'noise.rules', value: MOST_RULES },
  });
}
