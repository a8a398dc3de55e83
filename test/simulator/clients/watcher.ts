import type { ApiObject } from "../../../src/schema/kind.ts";
import type { Change } from "../history/history.ts";
import { acknowledge, checkList, type Selects } from "../laws/reads.ts";
import type { SimulatedServer } from "../servers/simulated-server.ts";
import type { ApiClient } from "./api-client.ts";

interface WatchFrame {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: ApiObject & { readonly code?: number };
}

/** What a watcher follows. */
export interface WatchedCollection {
  /** Path of the list. */
  readonly url: string;
  /** The store's prefix. */
  readonly prefix: string;
  /** Query that selects objects, with what it selects. */
  readonly query?: string | undefined;
  readonly selects?: Selects | undefined;
}

/** Part of the messages after which a watcher breaks its connection, to resume elsewhere. */
const breakShare = 0.05;

/** Lists and watches a collection as an informer does, and compares each event with what the cluster executed. */
export class Watcher {
  /** The resource version up to which everything was received; undefined before a list. */
  private position: number | undefined;
  /** The objects whose events at the position this connection has delivered. */
  private readonly received = new Set<string>();
  /** Whether this connection has delivered a bookmark with the position. */
  private isComplete = false;

  constructor(
    private readonly client: ApiClient,
    private readonly collection: WatchedCollection,
  ) {}

  /** Runs until the process ends. */
  async run(): Promise<never> {
    for (;;) {
      const server = this.client.dice.pick(this.client.world.servers);
      if (this.position === undefined) await this.list(server);
      else await this.watch(server, this.position);
      await this.client.pause(500);
    }
  }

  /** Checks that everything that was executed up to a revision has arrived. */
  check(upTo: number): void {
    if (this.position === undefined) return this.fail(`${this.name} has no list`);
    this.requireWhole(`the end of ${this.name}`);
    const [next] = this.expected(this.position, upTo);
    if (next !== undefined)
      this.fail(`${this.name} at ${this.position} never received ${next.type} at ${next.change.revision}`);
  }

  private get name(): string {
    return `the watch of ${this.collection.prefix} (${this.client.actor})`;
  }

  private async list(server: SimulatedServer): Promise<void> {
    const { url, prefix, query = "", selects } = this.collection;
    const answer = await this.client.request("GET", `${url}?${query}`, { server });
    const list = checkList(this.client.world, prefix, answer, selects);
    if (list === undefined) return;
    this.position = Number(list.metadata.resourceVersion);
  }

  private watch(server: SimulatedServer, from: number): Promise<void> {
    const { url, query = "" } = this.collection;
    const { client } = this;
    this.received.clear();
    this.isComplete = false;
    const full = `${url}?watch=true&allowWatchBookmarks=true&resourceVersion=${from}&${query}`;
    return new Promise((resolve) => {
      const done = (reason: string): void => {
        client.world.trace.add(client.actor, `watch ${server.name}`, reason);
        close();
        resolve();
      };
      const close = client.stream(full, server, {
        line: (text) => {
          const frame = JSON.parse(text) as WatchFrame;
          if (frame.type !== "ERROR") {
            this.receive(frame, server);
            return client.dice.chance(breakShare) ? done("connection broken") : undefined;
          }
          if (frame.object.code === 410) this.position = undefined;
          done(`error ${frame.object.code}`);
        },
        ended: (status) => {
          if (status === 410) this.position = undefined;
          done(`ended ${status}`);
        },
      });
    });
  }

  private receive({ type, object }: WatchFrame, server: SimulatedServer): void {
    const { world } = this.client;
    const revision = acknowledge(world, object.metadata.resourceVersion);
    const at = `${this.name} by ${server.name}: ${type} at ${revision}`;
    if (revision > world.history.revision) this.fail(`${at} is in the future`);
    if (type === "BOOKMARK") return this.receiveBookmark(revision, at);
    world.trace.add(this.client.actor, type, `${revision} ${object.metadata.name}`);
    const position = this.position!;
    if (revision > position) {
      this.requireWhole(at);
      const [next] = this.expected(position, revision);
      if (next !== undefined && next.change.revision !== revision)
        this.fail(`${at} instead of ${next.type} at ${next.change.revision}`);
      this.received.clear();
    }
    const events = this.expected(revision - 1, revision);
    const event = events.find(({ change }) => idOf(change.object) === idOf(object));
    const isRepeated =
      revision === position && (events.length === 1 || this.received.has(idOf(object)) || this.isComplete);
    if (revision < position || isRepeated) this.fail(`${at} after ${position}`);
    else if (event === undefined) this.fail(`${at} was never executed`);
    else if (event.type !== type) this.fail(`${at} instead of ${event.type}`);
    this.received.add(idOf(object));
    this.isComplete = false;
    this.position = Math.max(position, revision);
  }

  private receiveBookmark(revision: number, at: string): void {
    const position = this.position!;
    if (revision >= position) this.requireWhole(at);
    const [missing] = this.expected(position, revision);
    if (missing !== undefined) this.fail(`${at} before ${missing.type} at ${missing.change.revision}`);
    if (revision > position) this.isComplete = true;
    this.position = Math.max(position, revision);
  }

  /** Checks that this connection has delivered all events of the position, if there are several. */
  private requireWhole(at: string): void {
    const position = this.position!;
    // The events are gone, so they can't be repeated.
    if (this.isComplete || position <= this.client.world.floor) return;
    const events = this.expected(position - 1, position);
    const missing = events.find(({ change }) => !this.received.has(idOf(change.object)));
    if (events.length > 1 && missing !== undefined)
      this.fail(`${at} before ${missing.type} of ${missing.change.key} at ${position}`);
  }

  private fail(text: string): void {
    this.client.world.violations.add("watches are complete", text);
  }

  /** The events after a revision up to another one. */
  private expected(
    after: number,
    upTo: number,
  ): { readonly type: WatchFrame["type"]; readonly change: Change }[] {
    const { prefix, selects = () => true } = this.collection;
    return this.client.world.history.changes(prefix, after, upTo).flatMap((change) => {
      const before = change.before !== undefined && selects(change.before.object);
      const now = !change.isDeletion && selects(change.object);
      if (!before && !now) return [];
      return [{ type: !before ? "ADDED" : now ? "MODIFIED" : "DELETED", change }];
    });
  }
}

/** Identifies an object of a collection. */
function idOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}
