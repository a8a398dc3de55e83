import { setTimeout } from "node:timers/promises";
import type { Dice } from "../../support/dice.ts";
import type { ObservedObject, Operation } from "../history.ts";
import type { Fleet } from "./fleet.ts";

/** The lease that electors compete for. */
const key = "/leases/a/leader";
/** Holder of a lease that was released. */
const nobody = "nobody";

/**
 * A client that takes part in a leader election as clients of the API do: it acquires the lease by a conditional update if it was
 * released, or if it hasn't changed for the lease time. Its terms are recorded: the times in which it would act as the leader.
 */
export class Elector {
  private seen: { readonly revision: number; readonly atNs: number } | undefined;
  private counter = 0;

  constructor(
    private readonly name: string,
    private readonly fleet: Fleet,
    private readonly dice: Dice,
    /** A lease that isn't renewed for this time may be acquired by others, in milliseconds. */
    private readonly leaseMs: number,
  ) {}

  /** Takes part while a condition holds. */
  async run(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const acquired = await this.acquire();
      if (acquired !== undefined) await this.lead(acquired, goesOn);
      await setTimeout(this.dice.below(this.leaseMs / 5));
    }
  }

  /** Tries to acquire the lease; returns the operation that did. */
  private async acquire(): Promise<Operation | undefined> {
    const client = this.fleet.client(this.name, "admin", this.dice);
    const answer = (await client?.get(key))?.answer;
    if (client === undefined || answer === undefined) return undefined;
    const { recorder } = this.fleet;
    if (answer.outcome !== "object")
      return successful(await client.write({ verb: "create", key, token: this.token() }));
    const { revision, token } = answer.object;
    const atNs = recorder.nowNs();
    const isReleased = token.startsWith(`${nobody} `);
    if (this.seen?.revision !== revision) this.seen = { revision, atNs };
    if (!isReleased && atNs - this.seen.atNs <= this.leaseMs * 1e6) return undefined;
    return successful(await client.write({ verb: "update", key, token: this.token(), expected: revision }));
  }

  /** Renews the lease until that fails, or this client releases it or stops renewing, at random. */
  private async lead(acquired: Operation, goesOn: () => boolean): Promise<void> {
    const { recorder } = this.fleet;
    const leaseNs = this.leaseMs * 1e6;
    const beginNs = acquired.endNs!;
    let last = acquired;
    let releasedNs = Number.POSITIVE_INFINITY;
    for (;;) {
      await setTimeout(this.leaseMs / 4);
      const client = this.fleet.client(this.name, "admin", this.dice);
      const isLate = recorder.nowNs() - last.beginNs >= leaseNs;
      if (client === undefined || isLate || this.dice.chance(0.1)) break;
      const releases = !goesOn() || this.dice.chance(0.1);
      if (releases) releasedNs = recorder.nowNs();
      const token = releases ? `${nobody} ${this.token()}` : this.token();
      const expected = objectOf(last)!.revision;
      const renewed = successful(await client.write({ verb: "update", key, token, expected }));
      if (renewed === undefined || releases) break;
      last = renewed;
    }
    const endNs = Math.min(last.beginNs + leaseNs, releasedNs);
    if (endNs > beginNs) recorder.term({ lease: key, holder: this.name, beginNs, endNs });
  }

  private token(): string {
    return `${this.name}-${++this.counter}`;
  }
}

function objectOf({ answer }: Operation): ObservedObject | undefined {
  return answer?.outcome === "object" ? answer.object : undefined;
}

function successful(operation: Operation): Operation | undefined {
  return objectOf(operation) === undefined ? undefined : operation;
}
