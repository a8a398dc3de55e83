import type { EventEmitter } from "node:events";

/** A connection or stream that can be ended: a socket, an HTTP/2 stream or session, a request, a response. */
export interface Endable {
  destroy(): unknown;
}

/** An event handler. Its parameters are those of the event. */
export type Handler = (...parameters: never[]) => unknown;

/**
 * Wraps event handlers that a peer's bytes can reach. Node ends the process on an exception in an event handler, so a
 * peer could end it by its bytes. If a guarded handler throws or its promise rejects, the guard closes the connection
 * or stream of the event and reports the exception as a bug.
 *
 * Rule: everything in `src/http/` that registers an event handler does so by {@link on} or {@link once}; a test in
 * `test/tidy/` enforces it.
 */
export class HandlerGuard {
  /** @param report logs and counts a bug; it must not throw. */
  constructor(private readonly report: (error: unknown, event: string) => void) {}

  /**
   * Registers a guarded event handler.
   *
   * @param ends closed when the handler fails; the default is the first event parameter that can be closed.
   */
  on(emitter: EventEmitter, event: string, handler: Handler, ends?: Endable): void {
    emitter.on(event, this.wrap(event, handler, ends));
  }

  /** As {@link on}, for the first event only. */
  once(emitter: EventEmitter, event: string, handler: Handler, ends?: Endable): void {
    emitter.once(event, this.wrap(event, handler, ends));
  }

  /**
   * As {@link once}, for the first of several events.
   *
   * @returns a function that removes the handler.
   */
  onceAny(emitter: EventEmitter, events: readonly string[], handler: Handler, ends: Endable): () => void {
    const remove = () => {
      for (const event of events) emitter.off(event, call);
    };
    const call = this.wrap(
      events.join(" or "),
      (...parameters) => {
        remove();
        return handler(...parameters);
      },
      ends,
    );
    for (const event of events) emitter.once(event, call);
    return remove;
  }

  /** Returns a guarded callback; see {@link on}. */
  wrap(event: string, handler: Handler, ends?: Endable): (...parameters: unknown[]) => void {
    return (...parameters) => {
      const call = () => (handler as (...parameters: unknown[]) => unknown)(...parameters);
      this.run(event, call, ends ?? parameters.find(isEndable));
    };
  }

  /** Runs a task at once, guarded. */
  run(event: string, task: () => unknown, ends: Endable | undefined): void {
    try {
      const result = task();
      if (result instanceof Promise) result.catch((error: unknown) => this.fail(error, event, ends));
    } catch (error) {
      this.fail(error, event, ends);
    }
  }

  private fail(error: unknown, event: string, ends: Endable | undefined): void {
    this.report(error, event);
    try {
      ends?.destroy();
    } catch (second) {
      this.report(second, event);
    }
  }
}

function isEndable(value: unknown): value is Endable {
  return typeof (value as Partial<Endable> | undefined)?.destroy === "function";
}
