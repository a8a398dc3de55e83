import { setImmediate } from "node:timers/promises";
import type { Timer } from "../base/clock.ts";
import type { Effects } from "../resources/effects.ts";
import type { Registry } from "../resources/registry.ts";
import { AddressRange } from "../resources/services/address-range.ts";
import { ServiceAllocation, type PortRange } from "../resources/services/service-allocation.ts";
import { decodeEntry } from "../resources/stored.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Store } from "../storage/store.ts";
import { OptionsError } from "./options-error.ts";
import { stackOf, type ServerOptions } from "./options.ts";

/** How many services are read at a time when claims are repaired. */
const repairPage = 500;

/** After this time, a claim that still no service needs was left behind. */
const staleMs = 60_000;

/** What writing some kinds brings with it. What a crash left behind is cleared up in the background. */
export class ServerEffects {
  readonly byPrefix = new Map<string, Effects>();
  private readonly allocation: ServiceAllocation;
  private readonly servicePrefix: string | undefined;
  private clearing: Promise<void> | undefined;
  private timer: Timer | undefined;
  private closed = false;

  /** @throws {OptionsError} for ranges that can't be used. */
  constructor(
    private readonly options: ServerOptions,
    registry: Registry,
    private readonly store: Store,
    randomInt: (below: number) => number,
  ) {
    const ranges = addressRanges(options.serviceClusterIpRanges);
    const ports = portRange(options.serviceNodePortRange);
    this.allocation = new ServiceAllocation(store, ranges, ports, randomInt);
    this.servicePrefix = registry.find("", "v1", "services")?.storePrefix;
    if (this.servicePrefix !== undefined) this.byPrefix.set(this.servicePrefix, this.allocation);
  }

  /** Begins to clear up; nobody needs to wait for it. */
  start(): void {
    if (this.servicePrefix === undefined) return;
    this.clearing = this.guarded(async () => {
      const suspects = await this.audit();
      if (suspects.size === 0 || this.closed) return;
      this.timer = this.options.clock.setTimer(() => {
        this.clearing = this.guarded(async () => {
          const still = await this.audit();
          if (this.closed) return;
          const stale = [...still].filter(([name, owner]) => suspects.get(name) === owner);
          await this.allocation.release(new Map(stale));
        });
      }, staleMs);
    });
  }

  private audit(): ReturnType<ServiceAllocation["audit"]> {
    return this.allocation.audit(() => objectsUnder(this.store, this.servicePrefix!, () => this.closed));
  }

  /** Resolves when nothing is being cleared up any more. */
  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    await this.clearing;
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.closed)
        this.options.log.warn({ error: stackOf(error) }, "claims of services were not cleared up");
    }
  }
}

async function* objectsUnder(store: Store, prefix: string, ended: () => boolean): AsyncGenerator<ApiObject> {
  let after: string | undefined;
  while (!ended()) {
    const page = await store.range({ prefix, after, limit: repairPage });
    for (const entry of page.entries) yield decodeEntry(entry);
    if (!page.more) return;
    after = page.entries.at(-1)!.key;
    await setImmediate();
  }
}

function addressRanges(texts: readonly string[]): AddressRange[] {
  const ranges = texts.map((text) => {
    const range = AddressRange.parse(text);
    if (range !== undefined) return range;
    throw new OptionsError(`--service-cluster-ip-range: ${JSON.stringify(text)} is not a range of addresses`);
  });
  if (ranges.length === 0) throw new OptionsError("--service-cluster-ip-range: at least one range is needed");
  if (ranges.length > 2 || (ranges.length === 2 && ranges[0]!.family === ranges[1]!.family)) {
    throw new OptionsError("--service-cluster-ip-range: there can be one range, or one of each family");
  }
  return ranges;
}

function portRange(text: string): PortRange {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || first < 1 || last > 65535 || first > last) {
    throw new OptionsError(
      `--service-node-port-range: ${JSON.stringify(text)} is not a range of ports like 30000-32767`,
    );
  }
  return { first, last };
}
