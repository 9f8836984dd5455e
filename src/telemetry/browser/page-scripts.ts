import type { BindingNames } from './translation.js';

/**
 * Two small programs that run inside pages before anything of the page does. They are texts because
 * nothing else of ours is there: the page's own world, its functions and whatever it did to them.
 * What fails in them is dropped in silence on purpose: thrown, it would be an error of the page, in its
 * console and its handlers, and there is nobody else to tell.
 */

/**
 * Tells how WebSockets open and end: the protocol of the browser knows neither code nor reason. The
 * constructor is the native one behind a proxy, so that statics, `instanceof`, subclasses and errors
 * are as they were, and everything we call is taken before the page can change it. What is closed
 * because its page was left is not told, as for requests. A socket that never opened has failed, and
 * the browser says why.
 */
export function socketScript({ sockets }: BindingNames): string {
  return `(() => { try {
  const name = ${JSON.stringify(sockets)};
  const send = globalThis[name];
  delete globalThis[name];
  const Native = globalThis.WebSocket;
  if (typeof send !== 'function' || typeof Native !== 'function') return;
  const { apply, construct } = Reflect;
  const stringify = JSON.stringify;
  const slice = String.prototype.slice;
  const listen = EventTarget.prototype.addEventListener;
  const getter = (kind, key) => Object.getOwnPropertyDescriptor(kind.prototype, key).get;
  const urlOf = getter(Native, 'url');
  const codeOf = getter(CloseEvent, 'code');
  const reasonOf = getter(CloseEvent, 'reason');
  const tell = (report) => {
    try {
      send(stringify(report));
    } catch {}
  };
  let last = 0;
  const watch = (socket) => {
    const id = ++last;
    const url = apply(slice, apply(urlOf, socket, []), [0, 2000]);
    let isOpen = false;
    apply(listen, socket, ['open', () => {
      isOpen = true;
      tell({ __proto__: null, event: 'open', id, url });
    }]);
    apply(listen, socket, ['close', (event) => {
      if (!isOpen) return;
      const code = apply(codeOf, event, []);
      tell({ __proto__: null, event: 'close', id, url, code, reason: apply(reasonOf, event, []) });
    }]);
  };
  const Watched = new Proxy(Native, {
    construct(target, args, newTarget) {
      const socket = construct(target, args, newTarget === Watched ? target : newTarget);
      try {
        watch(socket);
      } catch {}
      return socket;
    },
  });
  const put = (holder, key) => {
    const described = Object.getOwnPropertyDescriptor(holder, key);
    Object.defineProperty(holder, key, { ...described, value: Watched });
  };
  put(Native.prototype, 'constructor');
  put(globalThis, 'WebSocket');
} catch {} })();`;
}

/**
 * Tells what somebody does with mouse and keyboard, from a world that the page cannot reach. Only
 * what a person or a tool did through the browser counts, not what a page does to itself. What is
 * typed never leaves the page: that there was typing does, and how much unless that is a secret.
 */
export function actionScript({ actions }: BindingNames): string {
  return `(() => {
  const send = globalThis[${JSON.stringify(actions)}];
  if (typeof send !== 'function' || typeof document === 'undefined') return;
  const QUIET_MS = 1000;
  const SECRET = /(^|\\s)(cc-\\S*|one-time-code|current-password|new-password)(\\s|$)/i;
  const wasSecret = new WeakSet();
  const cut = (text, most) => String(text).slice(0, most);
  const where = () => cut(location.href, 2000);
  const tell = (report) => send(JSON.stringify({ ...report, url: where() }));
  const targetOf = (event) => {
    const first = event.composedPath()[0];
    return first instanceof Element ? first : null;
  };
  /** A picture inside a button is the button. */
  const HANDLES = 'button,a,input,select,textarea,summary,label,[role=button],[role=link]';
  const handleOf = (element) => element.closest(HANDLES) ?? element;
  const attribute = (element, name) => {
    const value = element.getAttribute(name);
    return value ? '[' + name + '=' + cut(value, 40) + ']' : '';
  };
  const describe = (element) => {
    const tag = cut(element.localName, 40);
    if (element.id) return tag + '#' + cut(element.id, 60);
    const named = attribute(element, 'name') || attribute(element, 'data-testid') || attribute(element, 'aria-label');
    const classes = named ? '' : [...element.classList].slice(0, 2).map((one) => '.' + cut(one, 30)).join('');
    const isWorded = tag === 'button' || tag === 'a' || element.getAttribute('role') === 'button';
    const words = isWorded ? cut(element.textContent, 200).replace(/\\s+/g, ' ').trim() : '';
    return tag + named + classes + (words ? ' "' + cut(words, 40) + '"' : '');
  };
  /** Once shown as a password, for ever a secret: pages let people look at what they typed. */
  const isSecret = (element) => {
    const completes = element.getAttribute('autocomplete') || '';
    if (element.type === 'password' || SECRET.test(completes)) wasSecret.add(element);
    return wasSecret.has(element);
  };
  const lengthOf = (element) => (typeof element.value === 'string' ? element.value.length : 0);
  let typing;
  let before = 0;
  let timer;
  const finish = () => {
    clearTimeout(timer);
    if (typing === undefined) return;
    const { element, characters } = typing;
    typing = undefined;
    const report = { type: 'typing', target: describe(element) };
    tell(isSecret(element) ? report : { ...report, characters });
  };
  const on = (type, take) => addEventListener(type, (event) => {
    try {
      if (event.isTrusted) take(event);
    } catch {}
  }, { capture: true, passive: true });
  on('beforeinput', (event) => {
    const element = targetOf(event);
    before = element === null ? 0 : lengthOf(element);
  });
  on('input', (event) => {
    const element = targetOf(event);
    if (element === null || typeof event.inputType !== 'string') return;
    isSecret(element);
    if (typing !== undefined && typing.element !== element) finish();
    typing ??= { element, characters: 0 };
    const typed = typeof event.data === 'string' ? event.data.length : 0;
    typing.characters += Math.max(typed, lengthOf(element) - before, 0);
    clearTimeout(timer);
    timer = setTimeout(finish, QUIET_MS);
  });
  on('focusin', (event) => {
    const element = targetOf(event);
    if (element !== null) isSecret(element);
  });
  on('focusout', finish);
  on('pagehide', finish);
  on('click', (event) => {
    finish();
    const element = targetOf(event);
    if (element !== null) tell({ type: 'click', target: describe(handleOf(element)) });
  });
})();`;
}
