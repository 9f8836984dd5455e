export interface Answer<T = Record<string, unknown>> {
  readonly result?: T;
  readonly code?: string;
  readonly message?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export class Connection {
  /** Notifications, in the order they came. */
  readonly events: Readonly<Record<string, unknown>>[];
  static open(socket: string): Promise<Connection>;
  call<T = Record<string, unknown>>(method: string, params?: unknown): Promise<Answer<T>>;
  /** @throws Error when the call is refused. */
  must<T = Record<string, unknown>>(method: string, params?: unknown): Promise<T>;
  /** Closes after everything was sent. */
  hangUp(): void;
  destroy(): void;
}

export interface Daemon {
  open(): Promise<Connection>;
  stop(signal: NodeJS.Signals): Promise<void>;
}

export function startDaemon(options: {
  root: string;
  /** The built command line. */
  cli: string;
  env: Readonly<Record<string, string>>;
}): Promise<Daemon>;
