import { StatusError } from "../../base/status-error.ts";
import { ConnectionLostError } from "../../resources/engine/request-faults.ts";
import { storeFailure } from "../../resources/engine/resource-version.ts";
import { DefinitionChangedError } from "../../resources/registry/watch-change.ts";
import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";
import type { Revision, StoreError, Subscription } from "../../storage/store.ts";
import { failureStatus } from "../answers/status.ts";
import { awaitDrain } from "../limits/fair-limiter.ts";
import { idsOf, type RequestContext } from "../request/context.ts";
import type { HttpService, LoggedRequest } from "../service.ts";
import type { BodyStream } from "../transport/body-stream.ts";

/** Maximum number of buffered bytes; above it the server closes the watch, and the client resumes from its last resource version. */
const maxBacklogBytes = 8 * 1024 * 1024;
/** Shortest duration of a watch without `timeoutSeconds`; the longest is twice this. */
const minWatchMs = 30 * 60 * 1000;
/** Maximum delay of a timer in Node. A longer watch ends then, and the client resumes it. */
const maxWatchMs = 2 ** 31 - 1;
/** Interval of bookmarks. */
const bookmarkMs = 60 * 1000;

/** The parameters of a watch's response, and the encoding of the messages that aren't events. */
export interface WatchForm {
  readonly timeoutSeconds: number | undefined;
  readonly allowBookmarks: boolean;
  /** Encodes a bookmark. @param endsInitialEvents whether it follows the last object of the initial state. */
  bookmark(revision: Revision, endsInitialEvents: boolean): Uint8Array;
  /** Encodes the last message, with the reason of the watch's end. */
  error(status: object): Uint8Array;
}

/** The response of a watch: its duration, bookmarks, backlog and failures. */
export class WatchStream {
  private readonly cleanups: (() => void)[] = [];
  private subscription: Subscription | undefined;
  /** Revision of the last event or bookmark that was sent. */
  private sentRevision: Revision | undefined;
  private closed = false;

  constructor(
    private readonly service: HttpService,
    private readonly request: RequestContext,
    private readonly form: WatchForm,
    private readonly stream: BodyStream,
  ) {}

  /** Whether the response is complete or aborted. */
  get ended(): boolean {
    return this.closed;
  }

  /**
   * Ends the watch with its connection, and when the server stops.
   *
   * @param released called once when the connection or stream is closed.
   */
  attach(released: () => void): void {
    const { service, request } = this;
    const openStream = { close: () => this.finish() };
    service.streams.add(openStream);
    request.exchange.onClose(() => {
      service.streams.delete(openStream);
      released();
      this.close();
    });
  }

  /** Starts the timers and runs the first step of the watch, the initial state and the subscription. */
  async run(begin: () => Promise<void>): Promise<void> {
    this.startTimers();
    try {
      await begin();
    } catch (error) {
      this.fail(error);
    }
  }

  /**
   * Starts the subscription whose events are sent.
   *
   * @param after the revision after which it begins.
   */
  follow(after: Revision, subscribe: () => Subscription): void {
    if (this.closed) return;
    this.sentRevision ??= after;
    const subscription = subscribe();
    this.subscription = subscription;
    this.onClose(() => subscription.close());
  }

  /**
   * Sends the pages of the initial state.
   *
   * @param encode returns the messages of a page, in parts.
   * @returns the end of the list; undefined if the watch has ended meanwhile.
   */
  async sendPages(
    pages: AsyncGenerator<ListedPage, ListEnd>,
    encode: (page: ListedPage) => Promise<readonly Uint8Array[]>,
  ): Promise<ListEnd | undefined> {
    for (;;) {
      const step = await pages.next();
      if (this.closed) return undefined;
      if (step.done === true) return step.value;
      let keepsUp = true;
      for (const part of await encode(step.value)) keepsUp = this.write(part);
      if (!keepsUp) await this.drained();
    }
  }

  /** Sends events; cuts the client off if it reads too slowly. @param upTo every event up to here has been sent. */
  send(frames: Uint8Array, upTo: Revision): void {
    this.sentRevision = upTo;
    this.write(frames);
    if (this.stream.backlogBytes > maxBacklogBytes) this.cutOff("watcher too slow: its backlog is full");
  }

  /** Writes bytes. Returns false if the client reads more slowly. */
  write(bytes: Uint8Array): boolean {
    return this.stream.write(bytes);
  }

  /** Sends a bookmark: everything up to the revision has been sent. */
  bookmark(revision: Revision, endsInitialEvents = false): void {
    this.sentRevision = revision;
    this.write(this.form.bookmark(revision, endsInitialEvents));
  }

  /** Waits until the client has read the buffered frames; ends the watch if the client stalls, or if it needs a seat again and gets none. */
  async drained(): Promise<void> {
    try {
      await awaitDrain(this.service.clock, this.request, this.stream);
    } catch (error) {
      if (error instanceof StatusError && error.reason === "Timeout") this.cutOff(error.message);
      else this.fail(error);
    }
  }

  /** Completes the stream after a last bookmark. */
  finish(): void {
    if (this.closed) return;
    if (this.form.allowBookmarks) this.bookmarkPosition();
    this.stream.end();
    this.close();
  }

  /** Ends the stream with an ERROR message. */
  fail(error: unknown): void {
    if (this.closed) return;
    if (error instanceof ConnectionLostError) {
      if (error.isComplete) this.finish();
      else this.cutOff(error.message);
      return;
    }
    if (error instanceof DefinitionChangedError) return this.finish();
    const failure = storeFailure(error as StoreError);
    const requestLine = this.requestLine();
    if (!(failure instanceof StatusError)) this.service.log.defect(error, requestLine);
    else if (failure.cause !== undefined) this.service.log.unavailable(failure.cause, requestLine);
    const status =
      failure instanceof StatusError
        ? failure
        : new StatusError("InternalError", "internal error; see the log");
    this.stream.write(this.form.error(failureStatus(status, this.service.engine.vocabulary)));
    this.stream.end();
    this.close();
  }

  /** Registers a clean-up action; runs it at once if the watch has ended. */
  onClose(cleanup: () => void): void {
    if (this.closed) cleanup();
    else this.cleanups.push(cleanup);
  }

  /** Releases all resources; the stream is complete or closed. */
  private close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const cleanup of this.cleanups) cleanup();
  }

  /** Aborts the connection without an ERROR message, because the client doesn't read. */
  private cutOff(reason: string): void {
    this.service.log.cutOff(reason, this.requestLine());
    this.stream.destroy();
    this.close();
  }

  private requestLine(): LoggedRequest {
    const { exchange, facts } = this.request;
    return { method: exchange.method, path: facts.path, ...idsOf(this.request) };
  }

  private startTimers(): void {
    const { clock, engine } = this.service;
    const { timeoutSeconds, allowBookmarks } = this.form;
    const durationMs =
      timeoutSeconds === undefined
        ? // In whole seconds, because the timers of one duration share a list.
          minWatchMs + engine.randomInt(minWatchMs / 1000) * 1000
        : Math.min(timeoutSeconds * 1000, maxWatchMs);
    const end = clock.setTimer(() => this.finish(), durationMs);
    this.onClose(() => end.cancel());
    if (allowBookmarks) this.every(bookmarkMs, () => this.bookmarkPosition());
  }

  /** Calls a function at an interval until the watch ends. */
  every(intervalMs: number, callback: () => void): void {
    const { clock } = this.service;
    const tick = () => {
      callback();
      next = clock.setTimer(tick, intervalMs);
    };
    let next = clock.setTimer(tick, intervalMs);
    this.onClose(() => next.cancel());
  }

  private bookmarkPosition(): void {
    const position = this.subscription?.position;
    if (position !== undefined && position > (this.sentRevision ?? 0)) this.bookmark(position);
  }
}
