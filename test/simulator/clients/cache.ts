import type { ApiObject } from "../../../src/schema/kind.ts";
import type { SimulatedServer } from "../servers/simulated-server.ts";
import type { AnsweredList, ApiClient } from "./api-client.ts";
import { workPrefix } from "./writer.ts";

/** A message of a watch or of a subscription. */
export interface CacheMessage {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object?: ApiObject & { readonly code?: number };
  /** Of a subscription: the revision after which the client may resume. */
  readonly resumeAfter?: string;
}

/** What a cache follows. */
export interface CacheSource {
  /** Path and query of the list, for a watch; undefined for a subscription, which begins with the objects. */
  readonly listUrl?: string;
  /** Returns path and query of the stream. @param position the revision to resume after; undefined only for a subscription. */
  readonly streamUrl: (position: string | undefined) => string;
  /** Called with each message before the cache takes it. */
  readonly received?: (message: CacheMessage, server: SimulatedServer) => void;
  /** Checks the objects of a cache that has received everything up to a revision. */
  readonly check: (cache: Cache, revision: number) => void;
}

/** Part of the messages after which a cache breaks its connection, to resume elsewhere. */
const breakShare = 0.1;
/** Mean pause before a stream is opened again, in milliseconds. */
const pauseMs = 500;

/** Keeps the objects of a stream by name, as informers do: it resumes after the last position that it received. */
export class Cache {
  readonly objects = new Map<string, ApiObject>();
  private position: string | undefined;
  /** The revision up to which something may have been received. */
  private newest = 0;

  constructor(
    private readonly client: ApiClient,
    private readonly source: CacheSource,
  ) {}

  /** Checks the objects after everything up to a revision has arrived. */
  check(revision: number): void {
    this.source.check(this, revision);
  }

  get name(): string {
    return `the cache of ${this.client.actor} at ${this.position ?? "no position"}`;
  }

  /** Runs until the process ends. */
  async run(): Promise<never> {
    const { client, source } = this;
    for (;;) {
      const server = client.dice.pick(client.world.servers);
      if (this.mayLackEvents()) this.position = undefined;
      if (this.position === undefined && source.listUrl !== undefined)
        await this.list(server, source.listUrl);
      else await this.follow(server);
      await client.pause(pauseMs);
    }
  }

  /** Whether the connection may have broken within a transaction whose events can't be repeated any more, because they are compacted. */
  private mayLackEvents(): boolean {
    const { floor, history } = this.client.world;
    const position = Number(this.position);
    return position <= floor && history.changes(workPrefix, position - 1, position).length > 1;
  }

  private async list(server: SimulatedServer, url: string): Promise<void> {
    const answer = await this.client.request("GET", url, { server });
    if (answer?.status !== 200) return;
    const { items, metadata } = JSON.parse(answer.text) as AnsweredList;
    this.objects.clear();
    for (const item of items) this.objects.set(item.metadata.name!, item);
    this.position = metadata.resourceVersion;
    this.newest = Number(this.position);
    this.check(this.newest);
  }

  private follow(server: SimulatedServer): Promise<void> {
    const { client, source } = this;
    // The initial state of a subscription replaces what is known.
    if (this.position === undefined) this.objects.clear();
    return new Promise((resolve) => {
      const done = (reason: string): void => {
        client.world.trace.add(client.actor, `stream ${server.name}`, reason);
        close();
        resolve();
      };
      const close = client.stream(source.streamUrl(this.position), server, {
        line: (text) => {
          const message = JSON.parse(text) as CacheMessage;
          source.received?.(message, server);
          if (message.type === "ERROR") {
            if (message.object?.code === 410) this.position = undefined;
            return done(`error ${message.object?.code}`);
          }
          this.take(message);
          if (client.dice.chance(breakShare)) done("connection broken");
        },
        ended: (status) => {
          // The kind isn't served, the history is gone, or the initial state isn't complete.
          if (status !== 200 && status !== 0 && status !== 429 && status < 500) this.position = undefined;
          done(`ended ${status}`);
        },
      });
    });
  }

  private take({ type, object, resumeAfter }: CacheMessage): void {
    const { listUrl } = this.source;
    const position = listUrl === undefined ? resumeAfter : object?.metadata.resourceVersion;
    if (position !== undefined) this.position = position;
    if (type !== "BOOKMARK") this.keep(type, object!);
    const isComplete = listUrl === undefined ? resumeAfter !== undefined : type === "BOOKMARK";
    // A watch shows granted objects with the resource version of their last write, and resumes there: the cache is ahead of its position.
    const received = isComplete ? Number(position) : this.client.world.history.revision;
    this.newest = Math.max(this.newest, received);
    if (isComplete && received === this.newest) this.check(received);
  }

  private keep(type: CacheMessage["type"], object: ApiObject): void {
    this.client.world.trace.add(
      this.client.actor,
      type,
      `${object.metadata.resourceVersion} ${object.metadata.name}`,
    );
    if (type === "DELETED") this.objects.delete(object.metadata.name!);
    else this.objects.set(object.metadata.name!, object);
  }
}
