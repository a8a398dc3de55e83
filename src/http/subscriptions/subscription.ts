import { listObjects } from "../../resources/reads/list.ts";
import { MergedWatch, type MergedRun } from "../../resources/reads/merged-watch.ts";
import { watchObjects, bodyOf, type WatchChange } from "../../resources/reads/watch.ts";
import type { FollowedView } from "../../resources/objects/followed-view.ts";
import type { WatchSource } from "../../resources/registry/versioned-storage.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { Revision, Subscription as StoreSubscription } from "../../storage/store.ts";
import type { WatchEncoding } from "../encodings/encoding.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import { pauseOf } from "../verbs/measured-list.ts";
import { initialEvents, sharedFrames } from "../verbs/watch-frames.ts";
import { WatchStream } from "../verbs/watch-stream.ts";
import type { OpenEntry } from "./open-entries.ts";
import type { StreamParameters } from "./stream-parameters.ts";
import { encodeJson } from "../../base/json/encode.ts";

/** Interval of the comments in a stream of server-sent events, in milliseconds; proxies often close idle connections after a minute. */
const keepAliveMs = 30 * 1000;

/** A resource type of a subscription with its encodings. */
export interface EncodedEntry extends OpenEntry {
  readonly encoding: WatchEncoding;
  /** Limits the watch to the objects that the user may get; it is closed with the stream. Undefined for no limit. */
  readonly view: FollowedView | undefined;
}

/** One stream with the events of several resource types, in the order of revisions. */
export class Subscription {
  readonly stream: WatchStream;
  private readonly messages: readonly EntryMessages[];
  /** Index of the resource type whose watch has ended. */
  private failed: number | undefined;

  constructor(
    private readonly service: HttpService,
    request: RequestContext,
    private readonly parameters: StreamParameters,
    private readonly entries: readonly EncodedEntry[],
    private readonly form: MessageForm,
    body: BodyStream,
  ) {
    const { timeoutSeconds, allowBookmarks } = parameters;
    this.messages = entries.map(
      ({ text, encoding }, index) => new EntryMessages(form, index, text, encoding),
    );
    const stream = {
      timeoutSeconds,
      allowBookmarks,
      bookmark: (revision: Revision) => message(form, "BOOKMARK", revision, {}),
      error: (status: object) => this.errorMessage(status as JsonValue),
    };
    this.stream = new WatchStream(service, request, stream, body);
    for (const { view } of entries) if (view !== undefined) this.stream.onClose(() => view.close());
  }

  /**
   * Sends the state if it is requested, and starts the watches.
   *
   * @param after revision of the state, and after which the watches begin.
   */
  async run(after: Revision): Promise<void> {
    const { stream, parameters } = this;
    await stream.run(async () => {
      if (this.form === "events") stream.every(keepAliveMs, () => void stream.write(keepAliveComment));
      this.sendColumns();
      if (parameters.sendsState) await this.sendState(after);
      const latest = await this.service.engine.store.latestRevision();
      stream.follow(after, () => this.subscribe(after, latest));
    });
  }

  /** Sends the columns of tables. Rows come without them. */
  private sendColumns(): void {
    for (const [index, { text, encoding }] of this.entries.entries()) {
      const head = encoding.head?.();
      if (head === undefined) continue;
      const members = { watch: index, resource: text, object: head as JsonValue };
      this.stream.write(message(this.form, "COLUMNS", undefined, members));
    }
  }

  /** Sends the objects of all resource types at one revision, and a bookmark. */
  private async sendState(revision: Revision): Promise<void> {
    const { stream, service } = this;
    for (const [index, { request, selection, view: followed }] of this.entries.entries()) {
      const pause = pauseOf(service, request);
      const read = { mode: "exact", revision } as const;
      const view = followed?.state.view;
      const pages = listObjects(service.engine, request.target, { read, limit: 0, selection, pause, view });
      const end = await stream.sendPages(pages, (page) =>
        initialEvents(page, this.messages[index]!, undefined, pause),
      );
      if (end === undefined) return;
    }
    stream.send(message(this.form, "BOOKMARK", revision, { initialEventsEnd: true }), revision);
  }

  private subscribe(after: Revision, latest: Revision): StoreSubscription {
    const { stream, service } = this;
    const options = { after, latest, clock: service.clock };
    const observer = {
      changes: (runs: readonly MergedRun[], upTo: Revision) => this.send(runs, upTo),
      ended: (error: Error, index: number | undefined) => {
        this.failed = index;
        stream.fail(error);
      },
      drained: () => stream.drained(),
    };
    const sources = this.entries.map(
      ({ request, selection, view }): WatchSource =>
        (inner) =>
          watchObjects(service.engine, request.target, selection, { after }, inner, view),
    );
    return new MergedWatch(options, observer, sources.length).start(sources);
  }

  private send(runs: readonly MergedRun[], upTo: Revision): void {
    if (this.stream.ended) return;
    const parts = runs.map(({ source, changes, complete }) => {
      const frames = this.messages[source]!.events(changes, complete);
      const { resource } = this.entries[source]!.request.target;
      this.service.metrics.watchEvents(resource, changes.length, frames.length);
      return frames;
    });
    this.stream.send(parts.length === 1 ? parts[0]! : Buffer.concat(parts), upTo);
  }

  private errorMessage(status: JsonValue): Uint8Array {
    const entry = this.failed === undefined ? undefined : this.entries[this.failed];
    const members = entry === undefined ? {} : { watch: this.failed!, resource: entry.text };
    return message(this.form, "ERROR", undefined, { ...members, object: status });
  }
}

/** Form of the messages: a line of JSON each, or server-sent events. */
type MessageForm = "lines" | "events";

/** A message without the JSON of its object, which is between head and tail. */
interface Envelope {
  readonly head: string;
  readonly tail: string;
}

/**
 * Returns the envelope of a message.
 *
 * @param resumeAfter the revision to resume after; undefined if a client can't resume after this message.
 * @param members further members, as JSON with a comma in front.
 */
function envelope(
  form: MessageForm,
  type: string,
  resumeAfter: Revision | undefined,
  members: string,
): Envelope {
  const resume = resumeAfter === undefined ? "" : `,"resumeAfter":"${resumeAfter}"`;
  const json = `{"type":"${type}"${resume}${members}`;
  if (form === "lines") return { head: json, tail: "}\n" };
  const id = resumeAfter === undefined ? "" : `id: ${resumeAfter}\n`;
  return { head: `${id}event: ${type}\ndata: ${json}`, tail: "}\n\n" };
}

/** Returns a message without an object of a resource type. */
function message(
  form: MessageForm,
  type: "BOOKMARK" | "COLUMNS" | "ERROR",
  resumeAfter: Revision | undefined,
  members: Readonly<Record<string, JsonValue>>,
): Buffer {
  const further = Object.entries(members).map(([name, value]) => `,"${name}":${encodeJson(value)}`);
  const { head, tail } = envelope(form, type, resumeAfter, further.join(""));
  return Buffer.from(head + tail);
}

/** A comment, which clients ignore. It keeps a connection alive on which nothing happens. */
const keepAliveComment = Buffer.from(": \n\n");

/** Encodes the events of one resource type of a subscription. Encoders with equal keys encode equally. */
class EntryMessages {
  readonly key: string;
  /** See {@link WatchEncoding.varies}. */
  readonly varies?: true;
  private readonly members: string;
  private readonly object: (body: Uint8Array) => Uint8Array;

  /**
   * @param index index of the resource type in the request.
   * @param resource its name in messages.
   */
  constructor(
    private readonly form: MessageForm,
    index: number,
    resource: string,
    encoding: WatchEncoding,
  ) {
    this.members = `,"watch":${index},"resource":${JSON.stringify(resource)},"object":`;
    this.key = `${form} ${index} ${resource} ${encoding.key}`;
    const frames = encoding.later ?? encoding;
    if (frames.varies === true) this.varies = true;
    this.object = (body) => frames.object(body);
  }

  /** Encodes an event of the initial state. */
  frame(type: string, body: Uint8Array): Uint8Array {
    return Buffer.concat(this.parts(type, undefined, body));
  }

  /**
   * Encodes consecutive events; subscriptions with the same events and encoder key share them.
   *
   * @param complete whether a client may resume after the last one. After an earlier one it may if the next one has another revision.
   */
  events(changes: readonly WatchChange[], complete: boolean): Uint8Array {
    return sharedFrames(changes, complete ? this.key : `${this.key} incomplete`, () =>
      Buffer.concat(
        changes.flatMap((change, index) => {
          const { revision } = change.event;
          const next = changes[index + 1]?.event.revision;
          const isLast = next === undefined ? complete : next !== revision;
          return this.parts(change.type, isLast ? revision : undefined, bodyOf(change));
        }),
      ),
    );
  }

  private parts(type: string, resumeAfter: Revision | undefined, body: Uint8Array): Uint8Array[] {
    const { head, tail } = envelope(this.form, type, resumeAfter, this.members);
    return [Buffer.from(head), this.object(body), Buffer.from(tail)];
  }
}
