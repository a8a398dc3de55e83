import { Lease } from "../../kinds/coordination/lease.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Clock } from "../../base/time/clock.ts";

/** How long an answer is used again: many workloads are created together. */
const reuseMs = 5000;

interface StoredLease extends ApiObject {
  readonly spec?: { readonly renewTime?: string | null; readonly leaseDurationSeconds?: number | null };
}

/** The programs that bring workloads to run, as their leases show them. */
export interface Runners {
  /** Whether a controller manager holds its lease. */
  readonly controllers: boolean;
  /** Whether a scheduler or a node holds its lease. */
  readonly nodes: boolean;
}

/** Reads the leases of controllers, schedulers and nodes. */
export class RunnerLeases {
  private last: { readonly atMs: number; readonly runners: Runners } | undefined;

  constructor(
    private readonly client: Client,
    private readonly registry: Registry,
    private readonly clock: Clock,
  ) {}

  /** Returns which programs hold their leases; the answer may be some seconds old. */
  async read(): Promise<Runners> {
    const atMs = this.clock.monotonicNow();
    if (this.last !== undefined && atMs < this.last.atMs + reuseMs) return this.last.runners;
    const { systemNamespace, nodeLeaseNamespace, components } = this.registry.vocabulary;
    const runners = {
      controllers: await this.isHeld(systemNamespace, components.controllerManager),
      nodes:
        (await this.isHeld(systemNamespace, components.scheduler)) ||
        (await this.hasNode(nodeLeaseNamespace)),
    };
    this.last = { atMs, runners };
    return runners;
  }

  private async isHeld(namespace: string, name: string): Promise<boolean> {
    const lease = await this.client.find<StoredLease>({ ...this.reference(namespace), name });
    return lease !== undefined && this.isFresh(lease);
  }

  private async hasNode(namespace: string): Promise<boolean> {
    const { items } = await this.client.list<StoredLease>(this.reference(namespace));
    return items.some((lease) => this.isFresh(lease));
  }

  private isFresh({ spec }: StoredLease): boolean {
    const renewedMs = Date.parse(spec?.renewTime ?? "");
    return this.clock.now() < renewedMs + (spec?.leaseDurationSeconds ?? 0) * 1000;
  }

  private reference(namespace: string) {
    return { apiVersion: this.registry.require(Lease).apiVersion, kind: Lease.name, namespace };
  }
}
