import { setTimeout } from "node:timers/promises";
import type { Dice } from "../../support/dice.ts";
import type { Fleet } from "./fleet.ts";
import { Watcher } from "./watcher.ts";
import { prefixes, WorkloadClient, workspacePrefixes, type Focus } from "./workload.ts";

/** Options of {@link Scope}. */
interface ScopeOptions {
  readonly fleet: Fleet;
  /** Undefined outside of workspaces. */
  readonly workspace: string | undefined;
  /** Revision of the state with which it begins. */
  readonly after: number;
  /** Makes its tokens unique. */
  readonly name: string;
  readonly dice: Dice;
  readonly focus: Focus | undefined;
  /** Longest time in which the watches must receive every event after the workload, in milliseconds. */
  readonly settleMs: number;
  /** Receives the watchers as long as they run. */
  readonly watchers: Set<Watcher>;
}

/** Time between attempts of a request that must succeed, in milliseconds. */
const retryMs = 50;

/** The watchers and clients of one workspace, or outside of workspaces. */
export class Scope {
  private readonly watchers: readonly Watcher[];

  /** Starts a watcher of each prefix that keeps its watch, and several that don't. */
  constructor(private readonly options: ScopeOptions) {
    const { fleet, workspace, after, name, dice, watchers } = options;
    const watched = workspace === undefined ? prefixes : workspacePrefixes;
    const watcher = (prefix: string, isRoaming: boolean, index: number) => {
      const all = { name: `watcher-${index}-${name}`, workspace, prefix, after, isRoaming };
      return new Watcher(fleet, all, dice.split());
    };
    const roaming = workspace === undefined ? [...watched, "/configmaps/"] : ["/configmaps/"];
    this.watchers = [
      ...watched.map((prefix, index) => watcher(prefix, false, index)),
      ...roaming.map((prefix, index) => watcher(prefix, true, watched.length + index)),
    ];
    for (const one of this.watchers) watchers.add(one);
  }

  get workspace(): string | undefined {
    return this.options.workspace;
  }

  /** Lets clients send requests while a condition holds. */
  async work(clients: number, goesOn: () => boolean): Promise<void> {
    const { fleet, workspace, name, dice, focus } = this.options;
    await Promise.all(
      Array.from({ length: clients }, (_, index) =>
        new WorkloadClient(`client-${index}-${name}`, fleet, dice.split(), focus, workspace).run(goesOn),
      ),
    );
  }

  /** After every write: waits until the watches have received every event, and records that they had to. They stay open. */
  async settle(): Promise<void> {
    for (const watcher of this.watchers) watcher.settle();
    const deadline = performance.now() + this.options.settleMs;
    const markers = await this.writeMarkers(deadline);
    if (markers.size === 0 && this.workspace === undefined)
      throw new Error(
        `no write was answered for ${this.options.settleMs} ms after the workload, although all faults have ended`,
      );
    const markerOf = ({ options }: Watcher) => markers.get(options.prefix) ?? 0;
    const isBehind = (watcher: Watcher) => !watcher.hasReached(markerOf(watcher));
    while (this.watchers.some(isBehind) && performance.now() < deadline) await setTimeout(retryMs);
    for (const watcher of this.watchers) watcher.require(markerOf(watcher));
  }

  /** Ends the watches. */
  async stop(): Promise<void> {
    await Promise.all(this.watchers.map((watcher) => watcher.stop()));
    for (const watcher of this.watchers) this.options.watchers.delete(watcher);
  }

  /**
   * Writes an object under each prefix, after every other write; returns the revisions. One is missing if it can't be written before the
   * deadline.
   */
  private async writeMarkers(deadline: number): Promise<Map<string, number>> {
    const { fleet, workspace, name, dice } = this.options;
    const revisions = new Map<string, number>();
    for (const prefix of new Set(this.watchers.map(({ options }) => options.prefix))) {
      const isNamespaced = prefix.split("/").length > 3;
      const key = isNamespaced ? `${prefix}marker` : `${prefix}a/marker`;
      for (let attempt = 0; !revisions.has(prefix) && performance.now() < deadline; attempt++) {
        const token = `marker-${name}-${prefix}-${attempt}`;
        const client = fleet.client("marker", "admin", dice, workspace);
        const patched = await client?.write({ verb: "patch", key, token });
        const isMissing = patched?.answer?.outcome === "refused" && patched.answer.refusal === "missing";
        const written = isMissing
          ? await client?.write({ verb: "create", key, token: `${token}-new` })
          : patched;
        if (written?.answer?.outcome === "object") revisions.set(prefix, written.answer.object.revision);
        else await setTimeout(retryMs);
      }
    }
    return revisions;
  }
}
