import type { Socket } from 'node:net';
import { SmithyError } from '../core/errors.js';
import type { Log } from '../core/ports.js';
import type { Workspace } from '../workspace/workspace.js';
import { reportBug, type Call, type Dispatch } from './dispatch.js';
import { FrameSplitter, type Envelope, type Frame } from './framing.js';
import {
  answerBody,
  frameAnswer,
  frameBatch,
  frameEvent,
  isRefusal,
  parseJson,
  parseMessage,
  tooLarge,
  type Refusal,
  type Request,
} from './messages.js';
import type { McpSession } from './mcp/session.js';
import type { Context, Peer } from './method.js';
import { Outflow } from './outflow.js';

/** What one client may take of the daemon. */
export interface WireLimits {
  /** Read anew for every frame, so that a changed setting applies at once. */
  readonly maxFrameBytes: () => number;
  /** A frame that began must end within this time. */
  readonly partialFrameMs: number;
  /** A connection without requests, subscriptions or edits is closed after this time. */
  readonly idleMs: number;
  /** Requests under way; beyond it the daemon stops reading from this client. */
  readonly inFlight: number;
  /** Answers and events the client has not taken yet; beyond it reading stops, or it is dropped. */
  readonly unsentBytes: number;
}

export interface ConnectionDeps {
  readonly limits: WireLimits;
  readonly dispatch: Dispatch;
  readonly workspace: Workspace;
  readonly log: Log;
  /** The error for new requests while the daemon stops; undefined otherwise. */
  readonly refuse: () => SmithyError | undefined;
  readonly onIdle: () => void;
  /** A subscriber did not keep up. */
  readonly onDropped: () => void;
}

/** One client on the socket: frames in, answers and events out, everything bounded. */
export class Connection {
  readonly #socket: Socket;
  readonly #deps: ConnectionDeps;
  readonly #splitter: FrameSplitter;
  readonly #outflow: Outflow;
  readonly #waiting: Frame[] = [];
  readonly #releases: (() => void)[] = [];
  #inFlight = 0;
  #mcp: McpSession | undefined;
  #partialTimer: NodeJS.Timeout | undefined;
  lingers = false;

  constructor(socket: Socket, deps: ConnectionDeps) {
    this.#socket = socket;
    this.#deps = deps;
    this.#splitter = new FrameSplitter(deps.limits.maxFrameBytes);
    this.#outflow = new Outflow(socket, { ...deps, unsentBytes: deps.limits.unsentBytes });
    socket.setTimeout(deps.limits.idleMs);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('drain', () => this.#work());
    socket.on('timeout', () => this.#timeOut());
    // The close that follows says the same; without a listener the process would end.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#gone());
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Resolves when the client has taken everything, or is gone. */
  end(): Promise<void> {
    if (this.#socket.destroyed) return Promise.resolve();
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    this.#socket.destroySoon();
    return closed;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    const frames = this.#splitter.push(chunk);
    // What is held now began with this chunk: a busy client always has some frame half sent.
    if (frames.length > 0) this.#forgetPartialFrame();
    this.#waiting.push(...frames);
    this.#work();
  }

  /** Takes frames while there is room; a client that does not read its answers is not read either. */
  #work(): void {
    while (this.#hasRoom()) {
      const frame = this.#waiting.shift();
      if (frame === undefined) break;
      this.#take(frame);
    }
    if (this.#waiting.length > 0 || !this.#hasRoom()) {
      this.#socket.pause();
      // The rest may be here already; it is us who do not read it.
      this.#forgetPartialFrame();
    } else {
      this.#socket.resume();
      this.#watchPartialFrame();
    }
  }

  #hasRoom(): boolean {
    const { inFlight, unsentBytes } = this.#deps.limits;
    return this.#inFlight < inFlight && this.#socket.writableLength < unsentBytes;
  }

  #take(frame: Frame): void {
    if (frame.kind === 'too_large') {
      const error = tooLarge(this.#deps.limits.maxFrameBytes());
      this.#send(frameAnswer(frame.envelope, answerBody(null, { error })));
      return;
    }
    const { envelope, bytes } = frame;
    if (this.#mcp !== undefined) {
      this.#takeMcp(this.#mcp, bytes);
      return;
    }
    const parsed = parseMessage(bytes, envelope);
    const count = parsed.kind === 'single' ? 1 : parsed.items.length;
    this.#inFlight += count;
    const sent =
      parsed.kind === 'single'
        ? this.#answerSingle(parsed.item, envelope)
        : this.#answerBatch(parsed.items);
    void sent.finally(() => this.#settle(count));
  }

  /** Only once the answer is written is the request over: a stopping daemon waits for this. */
  #settle(count: number): void {
    this.#inFlight -= count;
    if (this.#waiting.length > 0 || this.#socket.isPaused()) setImmediate(() => this.#work());
    if (this.#inFlight === 0) this.#deps.onIdle();
  }

  async #answerSingle(item: Request | Refusal, envelope: Envelope): Promise<void> {
    const body = await this.#answer(item, envelope);
    if (body !== undefined) this.#send(frameAnswer(envelope, body));
  }

  async #answerBatch(items: readonly (Request | Refusal)[]): Promise<void> {
    const bodies = await Promise.all(items.map((item) => this.#answer(item, 'jsonrpc')));
    const answers = bodies.filter((body) => body !== undefined);
    if (answers.length > 0) this.#send(frameBatch(answers));
  }

  /** The body of the answer; undefined for a notification. */
  async #answer(item: Request | Refusal, envelope: Envelope): Promise<string | undefined> {
    if (isRefusal(item)) return answerBody(item.id, { error: item.error });
    try {
      const refusal = this.#deps.refuse();
      if (refusal !== undefined) throw refusal;
      const result = await this.#deps.dispatch(item, this.#context(envelope));
      return item.id === undefined ? undefined : answerBody(item.id, { result });
    } catch (thrown) {
      const error = SmithyError.from(thrown);
      // What a method did wrong is reported where it ran; this is of an answer that has no form.
      if (error !== thrown) reportBug(this.#deps.log, item.method, error);
      return item.id === undefined ? undefined : answerBody(item.id, { error });
    }
  }

  #context(envelope: Envelope): Context {
    const peer: Peer = {
      identity: this,
      isBrief: false,
      deliver: (event) => this.#outflow.deliver(frameEvent(envelope, event)),
      drained: () => this.#outflow.drained(),
      onGone: (release) => {
        this.#releases.push(release);
        // Whoever waits for events, or holds something, is not idle.
        this.#socket.setTimeout(0);
        if (this.#socket.destroyed) this.#gone();
      },
      linger: () => {
        this.lingers = true;
      },
      becomeMcp: () => this.#becomeMcp(),
    };
    return { transport: 'socket', workspace: this.#deps.workspace, peer };
  }

  async #becomeMcp(): Promise<void> {
    // Loaded by the first who needs it: most daemons never do.
    const { openMcpSession } = await import('./mcp/session.js');
    const { peer, workspace } = this.#context('jsonrpc');
    const context: Context = { transport: 'mcp', workspace, peer };
    const mcp = openMcpSession({
      version: workspace.status().version,
      ask: (method, params) => this.#askAsMcp({ method, params }, context),
      send: (line) => this.#send(line),
      close: () => this.#socket.destroySoon(),
    });
    peer.onGone(() => mcp.end());
    this.#mcp = mcp;
  }

  #takeMcp(mcp: McpSession, bytes: Buffer): void {
    try {
      mcp.receive(parseJson(bytes));
    } catch (thrown) {
      const error = SmithyError.from(thrown);
      this.#send(frameAnswer('jsonrpc', answerBody(null, { error })));
    }
  }

  /** Counted like any other request, so that a stopping daemon waits for it. */
  async #askAsMcp(call: Call, context: Context): Promise<unknown> {
    this.#inFlight += 1;
    try {
      const refusal = this.#deps.refuse();
      if (refusal !== undefined) throw refusal;
      return await this.#deps.dispatch(call, context);
    } finally {
      // After the answer is on its way.
      setImmediate(() => this.#settle(1));
    }
  }

  #send(frame: string): void {
    this.#outflow.send(frame);
  }

  #watchPartialFrame(): void {
    if (!this.#splitter.isPartial) this.#forgetPartialFrame();
    else this.#partialTimer ??= setTimeout(() => this.#giveUp(), this.#deps.limits.partialFrameMs);
  }

  #forgetPartialFrame(): void {
    clearTimeout(this.#partialTimer);
    this.#partialTimer = undefined;
  }

  #giveUp(): void {
    const error = new SmithyError('TIMEOUT', 'A frame was begun and not finished in time.', {
      hint: 'End every frame with a newline.',
      data: { retry_after_ms: 0 },
    });
    this.#send(frameAnswer('jsonrpc', answerBody(null, { error })));
    this.#socket.destroySoon();
  }

  #timeOut(): void {
    if (this.#inFlight > 0) return;
    // Whoever has not read for so long will not: waiting for the rest to be taken has no end.
    if (this.#socket.writableLength > 0) this.destroy();
    else this.#socket.destroySoon();
  }

  #gone(): void {
    this.#forgetPartialFrame();
    this.#waiting.length = 0;
    for (const release of this.#releases.splice(0)) release();
  }
}
