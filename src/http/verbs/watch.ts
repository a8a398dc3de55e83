import { detach } from "../../base/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { createYielder } from "../../base/yielding.ts";
import { listObjects, type ListedPage } from "../../resources/reads/list.ts";
import { ConnectionLostError } from "../../resources/engine/connection-lost-error.ts";
import { storeFailure } from "../../resources/engine/resource-version.ts";
import { bodyOf, watchObjects, type WatchChange } from "../../resources/reads/watch.ts";
import type { Entry, Revision, StoreError, Subscription } from "../../storage/store.ts";
import { portions } from "../encodings/chunks.ts";
import type { WatchEncoding, WatchFrames } from "../encodings/encoding.ts";
import { drainInTime, type BodyStream } from "../transport/body-stream.ts";
import { sliceBytes } from "../transport/sliced-sink.ts";
import { watchParameters, type WatchParameters } from "../request/parameters.ts";
import { headersFor } from "../answers/respond.ts";
import type { HttpService } from "../service.ts";
import { failureStatus } from "../answers/status.ts";
import { watchEncodingOf } from "./answer.ts";
import { pauseOf } from "./measured-list.ts";
import type { ResourceContext } from "../request/context.ts";

/** Maximum number of buffered bytes; above it the server closes the watch, and the client resumes from its last resource version. */
const maxBacklogBytes = 8 * 1024 * 1024;
/** Shortest duration of a watch without `timeoutSeconds`; the longest is twice this. */
const minWatchMs = 30 * 60 * 1000;
/** Maximum delay of a timer in Node. A longer watch ends then, and the client resumes it. */
const maxWatchMs = 2 ** 31 - 1;
/** Interval of bookmarks. */
const bookmarkMs = 60 * 1000;

/** Serves a GET of a collection with `watch` (spec: conventions 4.6). */
export async function serveWatch(service: HttpService, request: ResourceContext): Promise<void> {
  const { target, facts } = request;
  const parameters = watchParameters(target.resource, facts, service.engine.featureEnabled("WatchList"));
  const encoding = watchEncodingOf(service, request);
  const { resourceVersion } = parameters;
  const fromState = resourceVersion === undefined || resourceVersion === 0 || parameters.sendInitialEvents;
  if (!fromState) await rejectExpired(service, resourceVersion);
  const stream = request.exchange.stream(200, headersFor(encoding.watchContentType));
  const watcher = new Watcher(service, request, parameters, encoding, stream);
  const openStream = { close: () => watcher.finish() };
  const unregister = service.watches.add(facts, parameters.selection);
  facts.query.release();
  service.streams.add(openStream);
  request.exchange.onClose(() => {
    service.streams.delete(openStream);
    unregister();
    watcher.close();
  });
  await watcher.run(fromState ? undefined : resourceVersion);
}

/** Rejects a resource version before the retained history with 410 (spec: conventions 7). */
async function rejectExpired(service: HttpService, version: Revision): Promise<void> {
  const floor = await service.engine.store.floor();
  if (version < floor) throw new StatusError("Expired", `too old resource version: ${version} (${floor})`);
}

class Watcher {
  private readonly cleanups: (() => void)[] = [];
  private subscription: Subscription | undefined;
  /** Revision of the last change or bookmark that was sent. */
  private sentRevision: Revision | undefined;
  private ended = false;
  /** Encoding of the next frame. */
  private frames: WatchFrames;

  constructor(
    private readonly service: HttpService,
    private readonly request: ResourceContext,
    private readonly parameters: WatchParameters,
    private readonly encoding: WatchEncoding,
    private readonly stream: BodyStream,
  ) {
    this.frames = encoding;
  }

  /**
   * Sends the changes after a revision.
   *
   * @param after undefined: sends the current state first.
   */
  async run(after: Revision | undefined): Promise<void> {
    this.startTimers();
    try {
      const from = after ?? (await this.sendState());
      if (this.ended || from === undefined) return;
      const { engine } = this.service;
      const { target } = this.request;
      this.sentRevision ??= from;
      const subscription = watchObjects(engine, target, this.parameters.selection, from, {
        changes: (changes, upTo) => this.send(changes, upTo),
        ended: (error) => this.fail(error),
        drained: () => this.drained(),
      });
      this.subscription = subscription;
      this.onClose(() => subscription.close());
    } catch (error) {
      this.fail(error);
    }
  }

  /** Completes the stream after a last bookmark. */
  finish(): void {
    if (this.ended) return;
    if (this.parameters.allowBookmarks) this.bookmarkPosition();
    detach(this.stream.end(), () => this.stream.destroy());
    this.close();
  }

  /** Releases all resources; the stream is complete or closed. */
  close(): void {
    if (this.ended) return;
    this.ended = true;
    for (const cleanup of this.cleanups) cleanup();
  }

  /** Registers a clean-up action; runs it at once if the watch has ended. */
  private onClose(cleanup: () => void): void {
    if (this.ended) cleanup();
    else this.cleanups.push(cleanup);
  }

  /** Sends synthetic ADDED events for all objects; returns the revision of the read. */
  private async sendState(): Promise<Revision | undefined> {
    const { resourceVersion, selection, sendInitialEvents } = this.parameters;
    const read =
      resourceVersion === undefined || resourceVersion === 0
        ? { mode: "latest" as const }
        : { mode: "notOlderThan" as const, revision: resourceVersion };
    const pause = pauseOf(this.service, this.request);
    const pages = listObjects(this.service.engine, this.request.target, { read, limit: 0, selection, pause });
    for (;;) {
      const step = await pages.next();
      if (this.ended) return undefined;
      if (step.done === true) {
        if (sendInitialEvents && this.parameters.allowBookmarks) this.bookmark(step.value.revision);
        return step.value.revision;
      }
      if (!(await this.sendPage(step.value, pause))) await this.drained();
    }
  }

  /** Sends synthetic events of a page. Returns false if the client reads more slowly. */
  private async sendPage({ entries, forms }: ListedPage, pause: () => Promise<void>): Promise<boolean> {
    const key = `initial events ${this.frames.key}`;
    let page = forms?.get(key) as InitialEvents | undefined;
    if (page === undefined) {
      page = await initialEvents(entries, this.frames, this.encoding, pause);
      forms?.keep(key, page);
    }
    let keepsUp = true;
    for (const part of page.parts) keepsUp = this.write(part);
    return keepsUp;
  }

  private send(changes: readonly WatchChange[], upTo: Revision): void {
    if (this.ended || changes.length === 0) return;
    this.sentRevision = upTo;
    const frames = framesOf(changes, this.frames, this.encoding.later);
    this.service.metrics.watchEvents(this.request.target.resource, changes.length, frames.length);
    this.write(frames);
    if (this.stream.backlogBytes <= maxBacklogBytes) return;
    this.cutOff("watcher too slow: its backlog is full");
  }

  /** Waits until the client has read the buffered frames; closes the watch if the client stalls. */
  private async drained(): Promise<void> {
    try {
      await drainInTime(this.stream, this.service.clock);
    } catch (error) {
      this.cutOff((error as Error).message);
    }
  }

  /** Aborts the connection without an error frame, because the client doesn't read. */
  private cutOff(reason: string): void {
    const { exchange, facts } = this.request;
    this.service.log.cutOff(reason, { method: exchange.method, path: facts.path });
    this.stream.destroy();
    this.close();
  }

  private startTimers(): void {
    const { clock, engine } = this.service;
    const { timeoutSeconds, allowBookmarks } = this.parameters;
    const durationMs =
      timeoutSeconds === undefined
        ? // In whole seconds, because the timers of one duration share a list.
          minWatchMs + engine.randomInt(minWatchMs / 1000) * 1000
        : Math.min(timeoutSeconds * 1000, maxWatchMs);
    const end = clock.setTimer(() => this.finish(), durationMs);
    this.onClose(() => end.cancel());
    if (!allowBookmarks) return;
    const tick = () => {
      this.bookmarkPosition();
      next = clock.setTimer(tick, bookmarkMs);
    };
    let next = clock.setTimer(tick, bookmarkMs);
    this.onClose(() => next.cancel());
  }

  private bookmarkPosition(): void {
    const position = this.subscription?.position;
    if (position !== undefined && position > (this.sentRevision ?? 0)) this.bookmark(position);
  }

  /** Sends a bookmark: everything up to the revision has been sent. */
  private bookmark(revision: Revision): void {
    this.sentRevision = revision;
    this.write(this.frames.bookmark(String(revision)));
  }

  /** Writes frames; returns false if the client reads more slowly. */
  private write(frames: Uint8Array): boolean {
    this.frames = this.encoding.later ?? this.encoding;
    return this.stream.write(frames);
  }

  /** Ends the stream with an ERROR frame. */
  private fail(error: unknown): void {
    if (this.ended) return;
    if (error instanceof ConnectionLostError) {
      if (error.isComplete) this.finish();
      else this.cutOff(error.message);
      return;
    }
    const failure = storeFailure(error as StoreError);
    const { exchange, facts } = this.request;
    const requestLine = { method: exchange.method, path: facts.path };
    if (!(failure instanceof StatusError)) this.service.log.defect(error, requestLine);
    else if (failure.cause !== undefined) this.service.log.unavailable(failure.cause, requestLine);
    const status =
      failure instanceof StatusError
        ? failure
        : new StatusError("InternalError", "internal error; see the log");
    this.stream.write(this.encoding.error(failureStatus(status, this.service.engine.vocabulary)));
    detach(this.stream.end(), () => this.stream.destroy());
    this.close();
  }
}

/** The synthetic events of a page, in parts that are written at a time. */
interface InitialEvents {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
}

/** Encodes the entries of a page as events; pauses between portions. */
async function initialEvents(
  entries: readonly Entry[],
  first: WatchFrames,
  { later }: WatchEncoding,
  pause: () => Promise<void>,
): Promise<InitialEvents> {
  const yieldIfDue = createYielder(pause);
  const parts: Uint8Array[] = [];
  let joined: Uint8Array[] = [];
  let joinedBytes = 0;
  let bytes = 0;
  let encoding = first;
  const join = () => {
    if (joined.length > 0) parts.push(joined.length === 1 ? joined[0]! : Buffer.concat(joined));
    joined = [];
    joinedBytes = 0;
  };
  for (const portion of portions(entries)) {
    const events = portion.map(({ body }) => ({ type: "ADDED", body }));
    const frames = encodeFrames(events, encoding, later);
    encoding = later ?? first;
    // A write for each portion would cost more than its encoding.
    if (joinedBytes + frames.length > sliceBytes) join();
    joined.push(frames);
    joinedBytes += frames.length;
    bytes += frames.length;
    await yieldIfDue();
  }
  join();
  return { parts, bytes };
}

const framesByBatch = new WeakMap<readonly WatchChange[], Map<string, Uint8Array>>();

/** Returns the frames of a batch of changes; watches with the same batch and encoding share them. */
function framesOf(
  changes: readonly WatchChange[],
  first: WatchFrames,
  later: WatchFrames | undefined,
): Uint8Array {
  let framesByEncoding = framesByBatch.get(changes);
  if (framesByEncoding === undefined) framesByBatch.set(changes, (framesByEncoding = new Map()));
  let frames = framesByEncoding.get(first.key);
  if (frames === undefined) {
    frames = encodeFrames(
      changes.map((change) => ({ type: change.type, body: bodyOf(change) })),
      first,
      later,
    );
    framesByEncoding.set(first.key, frames);
  }
  return frames;
}

/** Encodes events as frames; the first frame may need another encoding than the later ones. */
function encodeFrames(
  events: readonly { readonly type: string; readonly body: Uint8Array }[],
  first: WatchFrames,
  later: WatchFrames = first,
): Uint8Array {
  const parts = events.map(({ type, body }, index) => (index === 0 ? first : later).frame(type, body));
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
