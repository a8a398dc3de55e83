import { setTimeout } from "node:timers/promises";
import type { Dice } from "../../support/dice.ts";
import type { RunningWatch } from "./client.ts";
import { isGone, positionOf } from "./recorder.ts";
import type { Fleet } from "./fleet.ts";

/** Options of a {@link Watcher}. */
export interface WatcherOptions {
  readonly name: string;
  /** The watched workspace; undefined outside of workspaces. */
  readonly workspace: string | undefined;
  readonly prefix: string;
  /** Revision after which events are requested first. */
  readonly after: number;
  /** Whether it ends its watch at random and continues later, perhaps at another server and from an earlier revision. */
  readonly isRoaming: boolean;
}

/** Longest time for which a roaming watcher keeps a watch, in milliseconds. */
const maxWatchMs = 800;
/** Longest time between two watches of a roaming watcher, in milliseconds. */
const maxPauseMs = 400;
/** Time between attempts to open a watch, in milliseconds. */
const retryMs = 20;

/** A client that watches a prefix until it is stopped, and continues after interruptions. */
export class Watcher {
  /** Whether the workload has ended, so that the watcher only has to receive the remaining events. */
  private isSettling = false;
  private current: RunningWatch | undefined;
  private isStopped = false;
  private lastPosition: number;
  private readonly running: Promise<void>;

  constructor(
    private readonly fleet: Fleet,
    readonly options: WatcherOptions,
    private readonly dice: Dice,
  ) {
    this.lastPosition = options.after;
    this.running = this.run();
  }

  /** Whether the present watch has delivered every event up to a revision. */
  hasReached(revision: number): boolean {
    return this.current !== undefined && positionOf(this.current.watch) >= revision;
  }

  /** Every event up to this revision was delivered. */
  get position(): number {
    const { current, lastPosition } = this;
    return current === undefined ? lastPosition : Math.max(lastPosition, positionOf(current.watch));
  }

  /** Begins to receive the remaining events: a roaming watcher continues with a watch that it keeps. */
  settle(): void {
    this.isSettling = true;
    if (this.options.isRoaming) this.current?.close();
  }

  /** Records that the present watch had to receive every event up to a revision. */
  require(revision: number): void {
    const { current } = this;
    if (current !== undefined && !isGone(current.watch)) current.watch.mustReach = revision;
  }

  /** Ends. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.current?.close();
    await this.running;
  }

  private async run(): Promise<void> {
    const { options, dice } = this;
    while (!this.isStopped) {
      const client = this.fleet.client(options.name, "admin", dice, options.workspace);
      if (client === undefined) {
        await setTimeout(retryMs);
        continue;
      }
      const isRoaming = options.isRoaming && !this.isSettling;
      const after = isRoaming && dice.chance(0.2) ? options.after : this.lastPosition;
      const current = client.watch(options.prefix, after, options.isRoaming);
      this.current = current;
      const timer = isRoaming ? setTimeout(dice.below(maxWatchMs)) : undefined;
      await Promise.race([current.ended, ...(timer === undefined ? [] : [timer])]);
      // A roaming watcher that must reach a revision keeps its watch until it is stopped.
      if (options.isRoaming && !this.isSettling) current.close();
      await current.ended;
      this.lastPosition = isGone(current.watch) ? await this.relist() : this.position;
      this.current = undefined;
      await setTimeout(options.isRoaming && !this.isSettling ? dice.below(maxPauseMs) : retryMs);
    }
  }

  /** After 410: lists again, as clients do, and returns the revision of the list. */
  private async relist(): Promise<number> {
    const { name, prefix, workspace } = this.options;
    const client = this.fleet.client(name, "admin", this.dice, workspace);
    const operation = await client?.list(prefix, { kind: "latest" });
    return operation?.answer?.outcome === "page" ? operation.answer.revision : this.lastPosition;
  }
}
