import type { Config } from '../../core/config.js';
import { SmithyError } from '../../core/errors.js';
import type { Clock, WebDoor } from '../../core/ports.js';
import { LOOPBACK } from './gate.js';
import { openHttpServer, type HttpServer, type HttpServerDeps } from './server.js';
import { Visits } from './visits.js';

export interface HttpDoorDeps extends Omit<HttpServerDeps, 'gate'> {
  readonly clock: Clock;
  readonly token: string;
}

export interface HttpDoor extends WebDoor {
  /** Null while it is closed. */
  where(): { readonly url: string } | null;
  /** Opens, moves or closes it as the settings say; false when that changes nothing. */
  apply(settings: Config['http']): Promise<boolean>;
  close(deadlineMs: number): Promise<void>;
}

/** Requests under way may end after the settings closed the door behind them. */
const LEAVING_MS = 5_000;

/** HTTP as the settings want it. A port that is taken is no reason for the daemon not to run. */
export function createHttpDoor(deps: HttpDoorDeps): HttpDoor {
  const visits = new Visits(deps.clock);
  const gate = { token: deps.token, visits };
  let server: HttpServer | undefined;
  let present: Config['http'] = { enabled: false, port: 0 };
  let problem: string | undefined;

  const urlOf = ({ port }: HttpServer): string => `http://${LOOPBACK}:${port}`;

  async function open(port: number): Promise<void> {
    try {
      server = await openHttpServer({ ...deps, gate }, port);
    } catch (error) {
      const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      problem = `HTTP is off: port ${port} cannot be used (${why}); change http.port, 0 picks a free one.`;
      deps.log.write('warn', 'http cannot be served', { port, why });
    }
  }

  return {
    where: () => (server === undefined ? null : { url: urlOf(server) }),

    async apply(wanted) {
      if (wanted.enabled === present.enabled && wanted.port === present.port) return false;
      present = wanted;
      problem = undefined;
      // Not waited for: the request that changes the setting may have come in by this door.
      void server?.close(LEAVING_MS);
      server = undefined;
      if (wanted.enabled) await open(wanted.port);
      return true;
    },

    warnings: () => (problem === undefined ? [] : [problem]),

    invite() {
      if (server === undefined) throw closed(problem);
      const { code, expiresAt } = visits.newCode();
      const url = `${urlOf(server)}/open?code=${code}`;
      return { url, expires_at: new Date(expiresAt).toISOString() };
    },

    close: async (deadlineMs) => server?.close(deadlineMs),
  };
}

function closed(problem: string | undefined): SmithyError {
  return new SmithyError('INVALID_REQUEST', problem ?? 'HTTP is switched off.', {
    hint: 'Set it with `smithyd config set http.enabled true` and http.port.',
  });
}
