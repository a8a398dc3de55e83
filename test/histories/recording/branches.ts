import { setTimeout } from "node:timers/promises";
import type { Dice } from "../../support/dice.ts";
import type { Fleet } from "./fleet.ts";
import type { Scope } from "./scope.ts";

/** Options of {@link Branches}. */
interface BranchesOptions {
  readonly fleet: Fleet;
  readonly seed: number;
  readonly dice: Dice;
  /** The scopes of which branches are made. */
  readonly bases: readonly Scope[];
  /** Begins the scope of a branch. */
  readonly begin: (workspace: string, after: number) => Scope;
}

/** Number of branches that exist at the same time, and of clients in each. */
const maxBranches = 3;
const clientsPerBranch = 2;
/** Longest time between the creations of two branches, and for which one is used before it is deleted, in milliseconds. */
const maxPauseMs = 1500;
const maxLifeMs = 6000;
/** Longest time in which a deleted workspace must have disappeared, and between two questions for it, in milliseconds. */
const removalMs = 60_000;
const retryMs = 100;

/**
 * Makes branches of workspaces, of the objects outside of them, and of branches, and lets clients work in them. Some are deleted while
 * branches of them are in use; the first one lives as long as the others together, so that the history of its base is compacted.
 */
export class Branches {
  private readonly bases: Scope[];
  private readonly scopes = new Set<Scope>();
  private created = 0;

  constructor(private readonly options: BranchesOptions) {
    this.bases = [...options.bases];
  }

  /** Makes and deletes branches while a condition holds; those that remain stay. */
  async run(goesOn: () => boolean): Promise<void> {
    const { dice } = this.options;
    const lives = new Set<Promise<void>>();
    while (goesOn()) {
      if (lives.size < maxBranches) {
        const life = this.live(goesOn).finally(() => lives.delete(life));
        lives.add(life);
      }
      await setTimeout(dice.below(maxPauseMs));
    }
    await Promise.all(lives);
  }

  /** Waits until the watches of the remaining branches have received every event, and ends them and the branches. */
  async end(): Promise<void> {
    await Promise.all(
      Array.from(this.scopes, async (scope) => {
        await scope.settle();
        await scope.stop();
      }),
    );
    await removeWorkspaces(this.options.fleet, this.options.dice, this.options.bases);
  }

  private async live(goesOn: () => boolean): Promise<void> {
    const { fleet, seed, dice, begin } = this.options;
    const index = this.created++;
    const base = index === 0 ? this.bases[0]! : dice.pick(this.bases);
    const client = fleet.client("brancher", "admin", dice, base.workspace);
    const name = `branch-${index}-${seed}`;
    const answer = (await client?.workspaces?.branch(name))?.answer;
    if (answer?.outcome !== "branched") return;
    const scope = begin(name, answer.revision);
    this.scopes.add(scope);
    this.bases.push(scope);
    const endMs = index === 0 ? Infinity : performance.now() + dice.below(maxLifeMs);
    await scope.work(clientsPerBranch, () => goesOn() && performance.now() < endMs);
    if (!goesOn()) return;
    this.bases.splice(this.bases.indexOf(scope), 1);
    await scope.settle();
    // The watches are open while the branch is deleted: its end is no deletion of its objects.
    await removeWorkspace(fleet, dice, name);
    await scope.stop();
    this.scopes.delete(scope);
    fleet.leave(name);
  }
}

/** Deletes all workspaces but the named ones. */
async function removeWorkspaces(fleet: Fleet, dice: Dice, others: readonly Scope[]): Promise<void> {
  const names = new Set(others.map(({ workspace }) => workspace));
  for (;;) {
    const all = await fleet.client("brancher", "admin", dice)?.workspaces?.names();
    const rest = all?.filter((name) => !names.has(name));
    if (rest?.length === 0) return;
    for (const name of rest ?? []) {
      await removeWorkspace(fleet, dice, name);
      fleet.leave(name);
    }
    await setTimeout(retryMs);
  }
}

/** @throws {Error} the workspace doesn't disappear. */
async function removeWorkspace(fleet: Fleet, dice: Dice, name: string): Promise<void> {
  const deadline = performance.now() + removalMs;
  while ((await fleet.client("brancher", "admin", dice)?.workspaces?.remove(name)) !== true) {
    if (performance.now() > deadline) throw new Error(`the workspace ${name} doesn't disappear`);
    await setTimeout(retryMs);
  }
}
