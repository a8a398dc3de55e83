import { createHash, randomUUID } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Client } from "../resources/client.ts";
import { unlessRaced } from "../resources/races.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { createOrUpdate } from "./create-or-update.ts";
import type { ServerAddress } from "./api-service/endpoints.ts";

/** Seconds for which a server that doesn't renew its lease counts as there. */
const leaseSeconds = 3600;
/** How often a server renews its lease, in milliseconds. */
export const leaseRenewMs = 10_000;
/** A server that has renewed its lease within this time is reached at its address, in milliseconds. */
const reachableMs = 4 * leaseRenewMs;

interface Lease extends ApiObject {
  spec?: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number };
}

/** Which server it is among those over one store. */
export interface ServerIdentity {
  readonly hostname: string;
  /** The port on which it listens: several servers may run on one machine. */
  readonly port: number;
  /** Where others reach it; undefined where they don't. */
  readonly address: ServerAddress | undefined;
}

/**
 * The lease by which a server shows that it lives, in the system's namespace (feature gate APIServerIdentity), under a name
 * that stays the same when it starts again.
 */
export class IdentityLease {
  private readonly name: string;
  private readonly holder: string;
  private readonly component: string;
  private readonly addressKey: string;

  constructor(
    private readonly client: Client,
    private readonly vocabulary: Vocabulary,
    private readonly clock: Clock,
    private readonly identity: ServerIdentity,
  ) {
    const { apiServer } = vocabulary.components;
    const digest = createHash("sha256").update(`${identity.hostname}:${identity.port}`).digest("hex");
    this.name = `${apiServer}-${digest.slice(0, 26)}`;
    this.holder = `${this.name}_${randomUUID()}`;
    this.component = `${vocabulary.groupSuffix}/component`;
    this.addressKey = `${vocabulary.domain}/address`;
  }

  /** Says that the server lives now. */
  async renew(): Promise<void> {
    const reference = this.reference(this.name);
    const renewTime = `${new Date(this.clock.now()).toISOString().slice(0, -1)}000Z`;
    const { hostname, address } = this.identity;
    const annotations = address === undefined ? {} : { [this.addressKey]: `${address.ip} ${address.port}` };
    const labels = {
      [this.component]: this.vocabulary.components.apiServer,
      [`${this.vocabulary.domain}/hostname`]: hostname,
    };
    const spec = { holderIdentity: this.holder, leaseDurationSeconds: leaseSeconds, renewTime };
    const type = kindOfLease(this.vocabulary);
    const renewed = (live: Lease | undefined) => {
      const metadata = { ...this.metadata, ...live?.metadata, labels, annotations };
      return { ...type, ...live, metadata, spec };
    };
    await unlessRaced(() => createOrUpdate<Lease>(this.client, reference, renewed));
  }

  /**
   * The addresses of the servers that live, this one's included. Deletes the leases of servers that have been away for
   * longer than their leases last.
   */
  async livingAddresses(): Promise<ServerAddress[]> {
    const own = this.identity.address;
    const found = new Map(own === undefined ? [] : [[keyOf(own), own]]);
    for (const lease of await this.leases()) {
      const ageMs = this.clock.now() - Date.parse(lease.spec?.renewTime ?? "");
      const address = addressOf(lease.metadata.annotations?.[this.addressKey]);
      if (ageMs > (lease.spec?.leaseDurationSeconds ?? leaseSeconds) * 1000) await this.remove(lease);
      else if (ageMs <= reachableMs && address !== undefined) found.set(keyOf(address), address);
    }
    return [...found.values()];
  }

  /** The server ends: its lease goes, if it is still this server's. */
  async release(): Promise<void> {
    const lease = await this.client.find<Lease>(this.reference(this.name));
    if (lease?.spec?.holderIdentity === this.holder) await this.remove(lease);
  }

  private async leases(): Promise<readonly Lease[]> {
    const labelSelector = `${this.component}=${this.vocabulary.components.apiServer}`;
    const { systemNamespace: namespace } = this.vocabulary;
    return (await this.client.list<Lease>({ ...kindOfLease(this.vocabulary), namespace, labelSelector }))
      .items;
  }

  private async remove({ metadata }: Lease): Promise<void> {
    const { uid, resourceVersion, name = "" } = metadata;
    const only = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    await unlessRaced(() => this.client.delete(this.reference(name), only));
  }

  private get metadata() {
    return { name: this.name, namespace: this.vocabulary.systemNamespace };
  }

  private reference(name: string) {
    return { ...kindOfLease(this.vocabulary), namespace: this.vocabulary.systemNamespace, name };
  }
}

function kindOfLease({ groupSuffix }: Vocabulary): { apiVersion: string; kind: string } {
  return { apiVersion: `coordination.${groupSuffix}/v1`, kind: "Lease" };
}

const keyOf = ({ ip, port }: ServerAddress): string => `${ip} ${port}`;

function addressOf(text: string | undefined): ServerAddress | undefined {
  const [ip = "", port = ""] = (text ?? "").split(" ", 2);
  return ip === "" || !/^\d{1,5}$/.test(port) ? undefined : { ip, port: Number(port) };
}
