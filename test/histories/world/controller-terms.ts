import { setTimeout } from "node:timers/promises";
import type { Dice } from "../../support/dice.ts";
import type { LeaderTerm } from "../history.ts";
import { Connection } from "../recording/http.ts";
import type { World } from "./world.ts";

/** The Lease of the server that runs the controllers. */
const leases = "/apis/coordination.platform.io/v1/namespaces/platform-system/leases";
const name = "apiserver-controllers";
/** A leader that could not renew its lease for this time stops. */
const deadlineNs = 10e9;
/** Time after which a request is given up, and between attempts, in milliseconds. */
const timeoutMs = 2000;
const pollMs = 100;

interface Lease {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly holderIdentity?: string; readonly renewTime?: string };
}

/**
 * Follows the Lease of the controllers. Each renewal is recorded as a term of its holder: the time in which the controllers of that
 * server may write.
 */
export class ControllerTerms {
  /** Nanoseconds of the recording at the time 0 of the wall clock. */
  private readonly offsetNs: number;
  private revision: string | undefined;
  /** The newest term; its process may still be killed before its end. */
  private last: LeaderTerm | undefined;

  constructor(
    private readonly world: World,
    private readonly dice: Dice,
  ) {
    this.offsetNs = world.fleet.recorder.nowNs() - Date.now() * 1e6;
  }

  /** Follows the Lease while a condition holds. */
  async run(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const endpoint = this.world.endpoint(this.dice);
      if (endpoint !== undefined) {
        const connection = new Connection(endpoint, "admin", timeoutMs);
        await this.follow(connection, goesOn);
        connection.close();
      }
      await setTimeout(pollMs);
    }
    this.record();
  }

  private async follow(connection: Connection, goesOn: () => boolean): Promise<void> {
    if (this.revision === undefined) {
      const reply = await connection.send("GET", `${leases}/${name}`);
      if (reply?.status !== 200) return;
      this.see(JSON.parse(reply.text) as Lease);
    }
    const query = `watch=true&fieldSelector=metadata.name%3D${name}&resourceVersion=${this.revision}`;
    let hasEnded = false;
    const stream = connection.stream(`${leases}?${query}`, (text) => {
      const { type, object } = JSON.parse(text) as { readonly type: string; readonly object: Lease };
      if (type === "ADDED" || type === "MODIFIED") return this.see(object);
      // The history is gone: what happened meanwhile is unknown.
      this.record();
      this.last = undefined;
      this.revision = undefined;
    });
    void stream.ended.then(() => (hasEnded = true));
    while (goesOn() && !hasEnded) await setTimeout(pollMs);
    stream.close();
    await stream.ended;
  }

  private see({ metadata, spec }: Lease): void {
    this.revision = metadata.resourceVersion;
    const { holderIdentity = "", renewTime } = spec;
    const beginNs = this.offsetNs + Date.parse(renewTime ?? "") * 1e6;
    const { last } = this;
    // The time of a release isn't in the Lease; it is after the last renewal and before the next term.
    if (last !== undefined && holderIdentity === "") this.last = { ...last, endNs: last.beginNs };
    if (last?.holder === holderIdentity) this.last = { ...last, endNs: Math.min(last.endNs, beginNs) };
    this.record();
    this.last =
      holderIdentity === ""
        ? undefined
        : { lease: name, holder: holderIdentity, beginNs, endNs: beginNs + deadlineNs };
  }

  /** Records the newest term, which ends early if its process was killed. */
  private record(): void {
    if (this.last === undefined) return;
    const pid = Number(this.last.holder.split("_").at(-2));
    const killedNs = this.world.killedNs.get(pid) ?? Number.POSITIVE_INFINITY;
    const { recorder } = this.world.fleet;
    recorder.term({ ...this.last, endNs: Math.min(this.last.endNs, killedNs) });
  }
}
