import { setTimeout } from "node:timers/promises";
import type { Dice } from "../../support/dice.ts";
import type { RecordingClient } from "./client.ts";
import type { Fleet } from "./fleet.ts";
import type { TogetherRequest } from "./transaction-body.ts";

/** Options of {@link Merger}. */
interface MergerOptions {
  readonly fleet: Fleet;
  /** The workspace into which it merges; undefined outside of workspaces. */
  readonly workspace: string | undefined;
  /** Unique among the mergers of a recording; lower-case letters, digits and hyphens. */
  readonly name: string;
  readonly dice: Dice;
}

/** Begins the names of mergers. */
export const mergerPrefix = "merger-";
/** Number of objects that nobody else writes. */
const ownObjects = 3;
/** Longest pauses between two steps and while no server is there, in milliseconds. */
const maxPauseMs = 300;
const noServerMs = 20;
/** Prefixes in which a trial has no changes of its own. */
const basePrefixes = ["/configmaps/b/", "/services/a/"];

/**
 * A client that changes objects in a branch that nobody else uses, often rebases it, and merges it. What the branch shows of its base is
 * recorded as a list of the base at the revision of the branch, and the merge as a transaction of the writes in the branch.
 */
export class Merger {
  private readonly keys: readonly string[];
  private trials = 0;

  constructor(private readonly options: MergerOptions) {
    this.keys = Array.from({ length: ownObjects }, (_, index) => `/configmaps/a/${options.name}-${index}`);
  }

  /** Merges one branch after the other while a condition holds. */
  async run(goesOn: () => boolean): Promise<void> {
    const { fleet, workspace, name, dice } = this.options;
    while (goesOn()) {
      const client = fleet.client(name, "admin", dice, workspace);
      if (client === undefined) await setTimeout(noServerMs);
      else await this.step(client);
      await setTimeout(dice.below(maxPauseMs));
    }
  }

  private async step(client: RecordingClient): Promise<void> {
    const { name, dice } = this.options;
    const { workspaces } = client;
    if (workspaces === undefined) return;
    const trial = `trial-${this.trials++}-${name}`;
    const start = await workspaces.begin(trial);
    if (start === undefined) return;
    await this.readBase(trial, start);
    const requests = await this.change(client, trial);
    if (dice.chance(0.5)) {
      const moved = await workspaces.rebase(trial);
      if (moved !== undefined) await this.readBase(trial, moved);
    }
    if (requests !== undefined) await workspaces.merge(trial, requests);
    await workspaces.remove(trial);
  }

  /** Records what a branch shows of its base, often as another process shows it than the one that has written. */
  private async readBase(trial: string, revision: number): Promise<void> {
    const { fleet, workspace, name, dice } = this.options;
    const reader = fleet.client(`${name}-reader`, "admin", dice, workspace);
    for (const prefix of basePrefixes) await reader?.workspaces?.listBase(trial, revision, prefix);
  }

  /** Writes some objects in a branch; undefined if it is open which ones. */
  private async change(client: RecordingClient, trial: string): Promise<TogetherRequest[] | undefined> {
    const { dice } = this.options;
    const requests: TogetherRequest[] = [];
    for (const key of this.keys.filter(() => dice.chance(0.7))) {
      const { answer } = await client.get(key);
      if (answer?.outcome !== "object" && answer?.outcome !== "refused") return undefined;
      const verb = answer.outcome === "object" ? "patch" : "create";
      requests.push({ verb, key, token: `${trial}-${requests.length}` });
    }
    if (requests.length === 0) return undefined;
    return (await client.workspaces!.writeIn(trial, requests)) ? requests : undefined;
  }
}
