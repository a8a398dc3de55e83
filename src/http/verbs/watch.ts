import { StatusError } from "../../base/status-error.ts";
import { listObjects } from "../../resources/reads/list.ts";
import { watchObjects, type WatchChange } from "../../resources/reads/watch.ts";
import type { Revision } from "../../storage/store.ts";
import { headersFor } from "../answers/respond.ts";
import type { WatchEncoding, WatchFrames } from "../encodings/encoding.ts";
import type { ResourceContext } from "../request/context.ts";
import { watchParameters, type WatchParameters } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import { watchEncodingOf } from "./answer.ts";
import { pauseOf } from "./measured-list.ts";
import { framesOf, initialEvents } from "./watch-frames.ts";
import { WatchStream } from "./watch-stream.ts";

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
  const unregister = service.watches.add(facts, parameters.selection);
  facts.query.release();
  watcher.stream.attach(unregister);
  await watcher.run(fromState ? undefined : resourceVersion);
}

/** Rejects a resource version before the retained history with 410 (spec: conventions 7). */
async function rejectExpired(service: HttpService, version: Revision): Promise<void> {
  const floor = await service.engine.store.floor();
  if (version < floor) throw new StatusError("Expired", `too old resource version: ${version} (${floor})`);
}

class Watcher {
  readonly stream: WatchStream;
  /** Encoding of the next frame. */
  private frames: WatchFrames;

  constructor(
    private readonly service: HttpService,
    private readonly request: ResourceContext,
    private readonly parameters: WatchParameters,
    private readonly encoding: WatchEncoding,
    body: BodyStream,
  ) {
    this.frames = encoding;
    const { timeoutSeconds, allowBookmarks } = parameters;
    const form = {
      timeoutSeconds,
      allowBookmarks,
      bookmark: (revision: Revision) => this.nextFrames().bookmark(String(revision)),
      error: (status: object) => encoding.error(status),
    };
    this.stream = new WatchStream(service, request, form, body);
  }

  /**
   * Sends the changes after a revision.
   *
   * @param after undefined: sends the current state first.
   */
  async run(after: Revision | undefined): Promise<void> {
    await this.stream.run(async () => {
      const from = after ?? (await this.sendState());
      if (from !== undefined) this.stream.follow(from, () => this.subscribe(from));
    });
  }

  private subscribe(after: Revision) {
    const { stream } = this;
    return watchObjects(this.service.engine, this.request.target, this.parameters.selection, after, {
      changes: (changes, upTo) => this.send(changes, upTo),
      ended: (error) => stream.fail(error),
      drained: () => stream.drained(),
    });
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
    const end = await this.stream.sendPages(pages, (page) =>
      initialEvents(page, this.nextFrames(), this.encoding.later, pause),
    );
    if (end === undefined) return undefined;
    if (sendInitialEvents && this.parameters.allowBookmarks) this.stream.bookmark(end.revision);
    return end.revision;
  }

  private send(changes: readonly WatchChange[], upTo: Revision): void {
    if (this.stream.ended || changes.length === 0) return;
    const frames = framesOf(changes, this.nextFrames(), this.encoding.later);
    this.service.metrics.watchEvents(this.request.target.resource, changes.length, frames.length);
    this.stream.send(frames, upTo);
  }

  /** Returns the encoding of the next frame; those after it have the later encoding, if there is one. */
  private nextFrames(): WatchFrames {
    const { frames } = this;
    this.frames = this.encoding.later ?? this.encoding;
    return frames;
  }
}
