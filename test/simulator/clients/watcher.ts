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

/** Lists and watches a collection as an informer does, and compares each event with what the cluster executed. */
export class Watcher {
  /** The resource version up to which everything was received; undefined before a list. */
  private position: number | undefined;

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
    const { violations } = this.client.world;
    if (this.position === undefined)
      return violations.add("watches are complete", `${this.name} has no list`);
    const [next] = this.expected(this.position, upTo);
    if (next !== undefined)
      violations.add(
        "watches are complete",
        `${this.name} at ${this.position} never received ${next.type} at ${next.change.revision}`,
      );
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
          if (frame.type !== "ERROR") return this.receive(frame, server);
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
    const position = this.position!;
    if (revision > world.history.revision)
      world.violations.add("watches are complete", `${at} is in the future`);
    const due = this.expected(position, revision);
    if (type === "BOOKMARK") {
      if (due.length > 0)
        world.violations.add(
          "watches are complete",
          `${at} before ${due[0]!.type} at ${due[0]!.change.revision}`,
        );
      this.position = Math.max(position, revision);
      return;
    }
    world.trace.add(this.client.actor, type, `${revision} ${object.metadata.name}`);
    if (revision <= position) world.violations.add("watches are complete", `${at} after ${position}`);
    else if (due.length === 0) world.violations.add("watches are complete", `${at} was never executed`);
    else if (due[0]!.change.revision !== revision)
      world.violations.add(
        "watches are complete",
        `${at} instead of ${due[0]!.type} at ${due[0]!.change.revision}`,
      );
    else if (due[0]!.type !== type)
      world.violations.add("watches are complete", `${at} instead of ${due[0]!.type}`);
    this.position = Math.max(position, revision);
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
