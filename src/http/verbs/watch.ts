import { groupAnnotation } from "../../vocabulary/names.ts";
import { tokenProtocolPrefix } from "../../authentication/websocket-token.ts";
import { applies, since } from "../../base/release-rows.ts";
import { StatusError } from "../../base/status-error.ts";
import {
  storeFailure,
  type ListRead,
  type ResourceVersion,
} from "../../resources/engine/resource-version.ts";
import type { FollowedView } from "../../resources/objects/followed-view.ts";
import { awaitVersion } from "../../resources/reads/get.ts";
import { listObjects } from "../../resources/reads/list.ts";
import { watchObjects, type WatchChange, type WatchStart } from "../../resources/reads/watch.ts";
import type { Revision } from "../../storage/store.ts";
import { streamInMembers, headersFor } from "../answers/respond.ts";
import type { BookmarkMetadata, WatchEncoding, WatchFrames } from "../encodings/encoding.ts";
import type { ResourceContext } from "../request/context.ts";
import { webSocketEncoding } from "../encodings/websocket.ts";
import { refuseListParameters, watchParameters, type WatchParameters } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import type { HeaderLines } from "../transport/header-lines.ts";
import { openWebSocket, wantsWebSocket, webSocketHandshake } from "../transport/websocket.ts";
import { watchEncodingOf } from "./answer.ts";
import { pauseOf } from "./measured-list.ts";
import { hasParameter, pastRevision, refuseHistoryParameters, watchFloor } from "./past.ts";
import { framesOf, initialEvents } from "./watch-frames.ts";
import { WatchStream } from "./watch-stream.ts";

const marksEndOfInitialEvents = applies(since("1.27"));

/** Serves a GET of a collection with `watch` (spec: conventions 4.6). */
export async function serveWatch(service: HttpService, request: ResourceContext): Promise<void> {
  const { target, facts } = request;
  const requested = watchParameters(target.resource, facts, service.engine);
  refuseHistoryParameters(facts, "watch", "deleted");
  if (hasParameter(facts, "at")) refuseHistoryParameters(facts, "a watch with at", "view");
  const past = pastRevision(service, request);
  const parameters = past === undefined ? requested : { ...requested, resourceVersion: await past };
  const negotiated = watchEncodingOf(service, request);
  const handshake = wantsWebSocket(request.exchange)
    ? webSocketHandshake(request.exchange, isTokenProtocol(service))
    : undefined;
  const encoding = handshake === undefined ? negotiated : webSocketEncoding(negotiated);
  const { resourceVersion } = parameters;
  const fromState = resourceVersion === undefined || resourceVersion === 0 || parameters.sendInitialEvents;
  if (!fromState && past === undefined) {
    await rejectExpired(service, resourceVersion, await watchFloor(service, target.resource));
  }
  // An error before the first bytes has its own status.
  const view = await openView(service, request, fromState, resourceVersion);
  const stream =
    handshake === undefined
      ? openStream(service, request, headersFor(encoding.watchContentType), parameters)
      : openWebSocket(request.exchange, handshake, service.clock);
  const watcher = new Watcher(service, request, { parameters, view }, encoding, stream);
  const unregister = service.watches.add(facts, parameters.selection);
  const unregisterShard = service.metrics.shardedWatch(target.resource, parameters.selection);
  facts.query.release();
  watcher.stream.attach(() => {
    unregister();
    unregisterShard?.();
  });
  // A client that names a state itself has all of it.
  const repeatsTransaction = past === undefined;
  await watcher.run(fromState ? undefined : { after: resourceVersion, repeatsTransaction });
}

/** Starts the response; a watch that begins with the objects may be compressed. */
function openStream(
  { engine }: HttpService,
  { exchange }: ResourceContext,
  headers: HeaderLines,
  { sendInitialEvents }: WatchParameters,
): BodyStream {
  const compresses = sendInitialEvents && engine.featureEnabled("WatchListCompression");
  return compresses ? streamInMembers(exchange, 200, headers) : exchange.stream(200, headers);
}

/** Returns whether a WebSocket protocol is a token. */
function isTokenProtocol({ engine }: HttpService): (name: string) => boolean {
  const prefix = tokenProtocolPrefix(engine.vocabulary);
  return (name) => name.startsWith(prefix);
}

/** Rejects a resource version before the retained history with 410 (spec: conventions 7). */
export async function rejectExpired(
  service: HttpService,
  version: Revision,
  oldest?: Revision,
): Promise<void> {
  const floor = oldest ?? (await service.engine.store.floor());
  if (version < floor) throw new StatusError("Expired", `too old resource version: ${version} (${floor})`);
}

/**
 * Opens the view that limits a watch; undefined for a watch of everything.
 *
 * @throws {StatusError} if the grants at the resource version are no longer known, or if the request isn't authorized as a view.
 */
async function openView(
  { engine }: HttpService,
  request: ResourceContext,
  fromState: boolean,
  version: ResourceVersion,
): Promise<FollowedView | undefined> {
  const { facts, viewSource } = request;
  if (viewSource === undefined) refuseListParameters(facts.query, "paths with /watch/");
  if (viewSource === undefined || viewSource.everything) return undefined;
  const isAtLeast = fromState && version !== undefined && version !== 0;
  if (isAtLeast) await awaitVersion(engine, version);
  return viewAt(request, fromState ? undefined : (version as Revision));
}

/**
 * Opens the view of a request; undefined for a request that isn't limited.
 *
 * @param revision see `ViewSource.open`.
 * @throws {StatusError} Expired if the grants at the revision are no longer known.
 */
export async function viewAt(
  { viewSource }: ResourceContext,
  revision: Revision | undefined,
): Promise<FollowedView | undefined> {
  if (viewSource === undefined || viewSource.everything) return undefined;
  try {
    return await viewSource.open(revision);
  } catch (error) {
    throw storeFailure(error);
  }
}

class Watcher {
  readonly stream: WatchStream;
  /** Encoding of the next frame. */
  private frames: WatchFrames;
  private readonly parameters: WatchParameters;
  private readonly view: FollowedView | undefined;

  /** @param watched has the view that limits the watch, if any; it is closed with the watch. */
  constructor(
    private readonly service: HttpService,
    private readonly request: ResourceContext,
    watched: { readonly parameters: WatchParameters; readonly view: FollowedView | undefined },
    private readonly encoding: WatchEncoding,
    body: BodyStream,
  ) {
    this.frames = encoding;
    const { parameters, view } = watched;
    this.parameters = parameters;
    this.view = view;
    const { timeoutSeconds, allowBookmarks } = parameters;
    const form = {
      timeoutSeconds,
      allowBookmarks,
      bookmark: (revision: Revision, endsInitialEvents: boolean) =>
        this.nextFrames().bookmark(this.bookmarkMetadata(revision, endsInitialEvents)),
      error: (status: object) => encoding.error(status),
    };
    this.stream = new WatchStream(service, request, form, body);
    if (view !== undefined) this.stream.onClose(() => view.close());
  }

  /**
   * Sends the changes after a revision.
   *
   * @param start undefined: sends the current state first.
   */
  async run(start: WatchStart | undefined): Promise<void> {
    await this.stream.run(async () => {
      const from = start ?? (await this.sendState());
      if (from !== undefined) this.stream.follow(from.after, () => this.subscribe(from));
    });
  }

  private subscribe(start: WatchStart) {
    const { stream } = this;
    const observer = {
      changes: (changes: readonly WatchChange[], upTo: Revision) => this.send(changes, upTo),
      ended: (error: Error) => stream.fail(error),
      drained: () => stream.drained(),
    };
    const { selection } = this.parameters;
    return watchObjects(this.service.engine, this.request.target, selection, start, observer, this.view);
  }

  /** Sends synthetic ADDED events for all objects; returns the revision of the read. */
  private async sendState(): Promise<WatchStart | undefined> {
    const { selection, sendInitialEvents } = this.parameters;
    const pause = pauseOf(this.service, this.request);
    const view = this.view?.state.view;
    const options = { read: this.stateRead, limit: 0, selection, pause, view };
    const pages = listObjects(this.service.engine, this.request.target, options);
    const end = await this.stream.sendPages(pages, (page) =>
      initialEvents(page, this.nextFrames(), this.encoding.later, pause),
    );
    if (end === undefined) return undefined;
    if (sendInitialEvents && this.parameters.allowBookmarks) this.stream.bookmark(end.revision, true);
    return { after: end.revision };
  }

  /** Returns the metadata of a bookmark. Clients of releases that have the annotation wait for it. */
  private bookmarkMetadata(revision: Revision, endsInitialEvents: boolean): BookmarkMetadata {
    const { registry, vocabulary } = this.service.engine;
    const resourceVersion = String(revision);
    if (!endsInitialEvents || !marksEndOfInitialEvents(registry)) return { resourceVersion };
    return {
      resourceVersion,
      annotations: { [groupAnnotation(vocabulary.groupSuffix, "initial-events-end")]: "true" },
    };
  }

  /** The read of the current state: with a view, at the revision of its grants. */
  private get stateRead(): ListRead {
    const start = this.view?.start;
    if (start !== undefined) return { mode: "exact", revision: start };
    const { resourceVersion } = this.parameters;
    if (resourceVersion === undefined || resourceVersion === 0) return { mode: "latest" };
    return { mode: "notOlderThan", revision: resourceVersion };
  }

  private send(changes: readonly WatchChange[], upTo: Revision): void {
    if (this.stream.ended || changes.length === 0) return;
    const frames = framesOf(changes, this.nextFrames(), this.encoding.later);
    this.service.metrics.watchEvents(this.request.target.resource, changes.length, frames.length);
    this.stream.send(frames, upTo);
    if (!this.stream.ended && this.parameters.allowBookmarks && isOlder(changes.at(-1)!, upTo))
      this.stream.bookmark(upTo);
  }

  /** Returns the encoding of the next frame; those after it have the later encoding, if there is one. */
  private nextFrames(): WatchFrames {
    const { frames } = this;
    this.frames = this.encoding.later ?? this.encoding;
    return frames;
  }
}

/** Whether a change of grants has shown an object that is older than the change, and is complete. */
function isOlder({ event: { entry, revision } }: WatchChange, upTo: Revision): boolean {
  return entry !== undefined && entry.revision < revision && revision <= upTo;
}
