import type { Entries, StreamName } from '../../core/changes/streams.js';
import type { Told } from '../../core/changes/told.js';
import { bounded, boundedUrl } from './bounds.js';
import { fromConsoleCall, fromException, fromLog } from './console-told.js';
import { fieldsOf, textOf, type DevtoolsEvent, type Fields } from './message.js';
import { fromActionReport, fromSocketReport } from './page-reports.js';
import { Requests } from './requests.js';

/** By these names the scripts inside pages call us. */
export interface BindingNames {
  readonly sockets: string;
  readonly actions: string;
}

export interface Circumstances {
  /** Wall time in ms. */
  readonly now: number;
  /** The main frame of the tab the event comes from; none: it comes from inside of one. */
  readonly mainFrame?: string | undefined;
}

/** A page with more of them open makes them up. */
const MOST_SOCKETS = 1_000;
const LONGEST_TITLE_OF_ERROR = 500;
const BLANK = /^(about:|chrome:\/\/newtab|chrome:\/\/new-tab-page)/iu;

/** What each message of the DevTools protocol tells of a page. Reads no clock and does nothing. */
export class Translation {
  readonly #names: BindingNames;
  readonly #since: number;
  readonly #requests = new Requests();
  readonly #sockets = new Map<string, string>();

  /** `since`: browsers repeat what pages said before somebody listened; older things are no news. */
  constructor(names: BindingNames, since: number) {
    this.#names = names;
    this.#since = since;
  }

  take({ method, params, session = '' }: DevtoolsEvent, around: Circumstances): Told | undefined {
    const { now } = around;
    switch (method) {
      case 'Runtime.consoleAPICalled':
        return this.#said(fromConsoleCall(params, now));
      case 'Log.entryAdded':
        return this.#said(fromLog(params, now));
      case 'Runtime.exceptionThrown':
        return this.#said(fromException(params, now));
      case 'Runtime.bindingCalled':
        return this.#reported(params, session, now);
      case 'Page.frameNavigated':
        return navigated(fieldsOf(params['frame']), 'id', around);
      case 'Page.navigatedWithinDocument':
        return navigated(params, 'frameId', around);
      case 'Network.webSocketCreated':
        this.#opening(params);
        return undefined;
      case 'Network.webSocketClosed':
        this.#sockets.delete(textOf(params['requestId']) ?? '');
        return undefined;
      case 'Network.webSocketFrameError':
        return this.#socketFailed(params, now);
      default:
        return told('network', this.#requests.take(method, params, now));
    }
  }

  #said(entry: Entries['console'] | undefined): Told | undefined {
    return entry === undefined || entry.at < this.#since ? undefined : told('console', entry);
  }

  #reported(
    { name, payload, executionContextId }: Fields,
    session: string,
    now: number,
  ): Told | undefined {
    const text = textOf(payload) ?? '';
    if (name === this.#names.actions) return fromActionReport(text, now);
    if (name !== this.#names.sockets) return undefined;
    const context = `${session.slice(0, 8)}.${Number(executionContextId)}`;
    return fromSocketReport(text, { context, now });
  }

  /** Of a failure only the number of its connection is told, never where that leads. */
  #opening({ requestId, url }: Fields): void {
    this.#sockets.set(textOf(requestId) ?? '', boundedUrl(textOf(url) ?? ''));
    const [oldest] = this.#sockets.keys();
    if (this.#sockets.size > MOST_SOCKETS && oldest !== undefined) this.#sockets.delete(oldest);
  }

  #socketFailed({ requestId, errorMessage }: Fields, now: number): Told | undefined {
    const id = textOf(requestId) ?? '';
    const url = this.#sockets.get(id);
    if (url === undefined) return undefined;
    const message = bounded(textOf(errorMessage) ?? '', LONGEST_TITLE_OF_ERROR);
    return told('websocket', {
      ...{ event: 'error', url, id, closeCode: null, closeReason: null, message },
      at: now,
    });
  }
}

/** Frames inside a page go where they like; a tab that goes somewhere is an action. */
function navigated(
  fields: Fields,
  id: string,
  { mainFrame, now }: Circumstances,
): Told | undefined {
  const url = textOf(fields['url']) ?? '';
  if (mainFrame === undefined || fields[id] !== mainFrame) return undefined;
  if (url === '' || BLANK.test(url)) return undefined;
  return told('actions', {
    ...{ type: 'navigation', url: boundedUrl(url), target: null, value: null },
    at: now,
  });
}

function told<Name extends StreamName>(
  stream: Name,
  entry: Entries[Name] | undefined,
): Told | undefined {
  return entry === undefined ? undefined : ({ stream, entry } as Told);
}
