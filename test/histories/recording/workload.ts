import { setTimeout } from "node:timers/promises";
import type { Dice } from "../../support/dice.ts";
import type { ListState, ObservedObject, Operation } from "../history.ts";
import type { RecordingClient } from "./client.ts";
import type { Fleet } from "./fleet.ts";
import type { TogetherRequest } from "./transaction-body.ts";

/** Namespaces of the workload; in the last one a quota limits the ConfigMaps. */
export const namespaces = ["a", "b", "limited"] as const;
/** Limit of the ConfigMaps in the limited namespace. */
export const configMapLimit = 5;
/** Users to whom RoleBindings grant rights. */
export const users = ["user-0", "user-1", "user-2"] as const;
/** Prefixes that clients write to and watch in workspaces. */
export const workspacePrefixes = ["/configmaps/", "/services/a/", "/rolebindings/"] as const;
/** Prefixes that clients write to and watch outside of workspaces. */
export const prefixes = [...workspacePrefixes, "/leases/a/"] as const;

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const keys = {
  contended: ["a", "b"].flatMap((namespace) => names(4, `/configmaps/${namespace}/map-`)),
  limited: names(9, "/configmaps/limited/map-"),
  services: names(8, "/services/a/service-"),
  bindings: users.flatMap((user) => ["a", "b"].map((namespace) => `/rolebindings/${namespace}/${user}`)),
};
const listedPrefixes = [
  "/configmaps/",
  "/configmaps/a/",
  "/configmaps/limited/",
  "/services/a/",
  "/rolebindings/",
];

/** Objects on which a workload concentrates. */
export type Focus = "limited" | "services" | "bindings";

/** Time for which a client waits while no server is there, in milliseconds. */
const noServerMs = 20;

/** Draws of the requests of a focus. */
const focused: Readonly<Record<Focus, (dice: Dice) => number>> = {
  limited: () => 50,
  services: () => 60,
  bindings: (dice) => 65 + dice.below(15),
};

/** A client that sends random requests and remembers what it saw, to send preconditions that are sometimes outdated. */
export class WorkloadClient {
  private readonly revisions = new Map<string, number>();
  /** A revision of the past, for lists at an exact revision. */
  private past = 0;
  private counter = 0;

  constructor(
    private readonly name: string,
    private readonly fleet: Fleet,
    private readonly dice: Dice,
    private readonly focus?: Focus,
    /** Undefined outside of workspaces. */
    private readonly workspace?: string,
  ) {}

  /** Sends requests, one after the other, while a condition holds. */
  async run(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const client = this.fleet.client(this.name, "admin", this.dice, this.workspace);
      if (client === undefined) await setTimeout(noServerMs);
      else await this.step(client);
    }
  }

  private async step(client: RecordingClient): Promise<void> {
    const { dice } = this;
    const draw = this.focus !== undefined && dice.chance(0.7) ? focused[this.focus](dice) : dice.below(100);
    if (draw < 8) await this.changeTogether(client);
    else if (draw < 45) await this.change(client, dice.pick(keys.contended));
    else if (draw < 57) await this.change(client, dice.pick(keys.limited));
    else if (draw < 65) await this.change(client, dice.pick(keys.services));
    else if (draw < 70) await this.grantOrRemove(client, dice.pick(keys.bindings));
    else if (draw < 82) await this.review(client, dice.pick(keys.bindings));
    else await this.list(client, dice.pick(listedPrefixes));
  }

  private async change(client: RecordingClient, key: string): Promise<void> {
    const { dice } = this;
    const token = `${this.name}-${++this.counter}`;
    const expected = dice.chance(0.7) ? this.revisions.get(key) : undefined;
    const size = dice.pick([1, 10, 2000]);
    const isService = key.startsWith("/services/");
    const type = dice.pick(["ClusterIP", "NodePort"]);
    const fields = isService ? { spec: { type } } : {};
    const draw = dice.below(100);
    if (draw < 25) this.see(key, await client.get(key));
    else if (draw < 45 || !this.revisions.has(key))
      this.see(key, await client.write({ verb: "create", key, token }, { size, ...this.newService(key) }));
    // The update of a Service must repeat its addresses; a patch keeps them.
    else if (draw < 65 && !isService)
      this.see(key, await client.write({ verb: "update", key, token, expected }, { size }));
    else if (draw < 80)
      this.see(key, await client.write({ verb: "patch", key, token, expected }, { fields }));
    else this.see(key, await client.write({ verb: "delete", key, expected }));
  }

  /** Writes two or three ConfigMaps of both namespaces in one transaction. */
  private async changeTogether(client: RecordingClient): Promise<void> {
    const { dice } = this;
    const chosen = new Set([dice.pick(keys.contended), dice.pick(keys.contended), dice.pick(keys.contended)]);
    const requests = [...chosen].map((key): TogetherRequest => {
      const token = `${this.name}-${++this.counter}`;
      const expected = dice.chance(0.2) ? this.revisions.get(key) : undefined;
      return this.revisions.has(key)
        ? { verb: "patch", key, token, expected }
        : { verb: "create", key, token };
    });
    for (const [index, operation] of (await client.transact(requests)).entries())
      this.see(requests[index]!.key, operation);
  }

  /** Fields of a new Service: often with an address that others request too. */
  private newService(key: string): { readonly fields?: object } {
    if (!key.startsWith("/services/") || this.dice.chance(0.5)) return {};
    const clusterIP = `10.0.0.${1 + this.dice.below(4)}`;
    return { fields: { spec: { type: "NodePort", clusterIP, ports: [{ port: 80 }] } } };
  }

  private async grantOrRemove(client: RecordingClient, key: string): Promise<void> {
    const token = `${this.name}-${++this.counter}`;
    const verb = this.dice.pick(["create", "delete"] as const);
    await client.write(verb === "create" ? { verb, key, token } : { verb, key });
  }

  private async review(client: RecordingClient, key: string): Promise<void> {
    const user = key.split("/")[3]!;
    if (this.dice.chance(0.5)) await client.review(key);
    else await this.fleet.client(this.name, user, this.dice, this.workspace)?.attempt(key);
  }

  /** Reads a list, often in pages, of the latest or an exact revision, and sometimes stops before the last page. */
  private async list(client: RecordingClient, prefix: string): Promise<void> {
    const { dice } = this;
    const limit = dice.chance(0.6) ? 2 + dice.below(6) : undefined;
    const state: ListState =
      this.past > 0 && dice.chance(0.3) ? { kind: "exact", revision: this.past } : { kind: "latest" };
    const first = await client.list(prefix, state, limit);
    let page = first;
    while (page.answer?.outcome === "page") {
      if (state.kind === "latest" && dice.chance(0.3)) this.past = page.answer.revision;
      for (const object of page.answer.objects) if (dice.chance(0.2)) this.remember(object);
      if (!page.answer.more || dice.chance(0.05)) return;
      page = await client.list(prefix, { kind: "continued", first: first.id }, limit, page);
    }
    // 410: the revision was compacted.
    this.past = 0;
  }

  private see(key: string, { answer }: Operation): void {
    if (answer?.outcome === "object") this.remember(answer.object);
    // Often keeps the outdated revision, so that outdated preconditions are sent.
    else if (answer?.outcome === "refused" && answer.refusal === "missing") this.revisions.delete(key);
    else if (answer?.outcome === "refused" && answer.refusal === "exists") this.revisions.set(key, 1);
  }

  private remember({ key, revision }: ObservedObject): void {
    this.revisions.set(key, revision);
  }
}
