import { groupAnnotation, groupVersion, labelKey } from "../vocabulary/names.ts";
import { createHash, randomUUID } from "node:crypto";
import type { Clock } from "../base/time/clock.ts";
import type { Client } from "../resources/clients/client.ts";
import { unlessRaced } from "../resources/clients/races.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { createOrUpdate } from "./create-or-update.ts";
import type { ServerAddress } from "./api-service/endpoints.ts";

/** Duration of a lease in seconds. After that time without renewal the server counts as gone. */
const leaseSeconds = 3600;
/** Time between renewals of the lease, in milliseconds. */
export const leaseRenewMs = 10_000;
/** A server is published as reachable if it renewed its lease within this time, in milliseconds. */
const reachableMs = 4 * leaseRenewMs;

interface Lease extends ApiObject {
  spec?: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number };
}

/** Identifies a server among those over one store. */
export interface ServerIdentity {
  readonly hostname: string;
  /** The port on which it listens; several servers may run on one machine. */
  readonly port: number;
  /** The address for clients; undefined if there is none. */
  readonly address: ServerAddress | undefined;
}

/**
 * The Lease of a running server, in the system namespace (feature gate APIServerIdentity). Its name is derived from
 * host name and port, so it is the same after a restart.
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
    this.component = groupAnnotation(vocabulary.groupSuffix, "component");
    this.addressKey = labelKey(vocabulary.domain, "address");
  }

  /** Creates or renews the lease. */
  async renew(): Promise<void> {
    const reference = this.reference(this.name);
    const renewTime = `${new Date(this.clock.now()).toISOString().slice(0, -1)}000Z`;
    const { hostname, address } = this.identity;
    const annotations = address === undefined ? {} : { [this.addressKey]: `${address.ip} ${address.port}` };
    const labels = {
      [this.component]: this.vocabulary.components.apiServer,
      [labelKey(this.vocabulary.domain, "hostname")]: hostname,
    };
    const spec = { holderIdentity: this.holder, leaseDurationSeconds: leaseSeconds, renewTime };
    const type = kindOfLease(this.vocabulary);
    const renewed = (live: Lease | undefined) => {
      const metadata = { ...this.metadata, ...live?.metadata, labels, annotations };
      return { ...type, ...live, metadata, spec };
    };
    await unlessRaced(() => createOrUpdate<Lease>(this.client, reference, renewed));
  }

  /** Returns the addresses of running servers, including this one. Deletes leases of other servers that have expired. */
  async livingAddresses(): Promise<ServerAddress[]> {
    const own = this.identity.address;
    const addresses = new Map(own === undefined ? [] : [[keyOf(own), own]]);
    for (const lease of await this.leases()) {
      const ageMs = this.clock.now() - Date.parse(lease.spec?.renewTime ?? "");
      const address = addressOf(lease.metadata.annotations?.[this.addressKey]);
      if (ageMs > (lease.spec?.leaseDurationSeconds ?? leaseSeconds) * 1000) await this.remove(lease);
      else if (ageMs <= reachableMs && address !== undefined) addresses.set(keyOf(address), address);
    }
    return [...addresses.values()];
  }

  /** Deletes the lease, if it was renewed last by this process. */
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
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    await unlessRaced(() => this.client.delete(this.reference(name), preconditions));
  }

  private get metadata() {
    return { name: this.name, namespace: this.vocabulary.systemNamespace };
  }

  private reference(name: string) {
    return { ...kindOfLease(this.vocabulary), namespace: this.vocabulary.systemNamespace, name };
  }
}

function kindOfLease({ groupSuffix }: Vocabulary): { apiVersion: string; kind: string } {
  return { apiVersion: groupVersion(groupSuffix, "coordination", "v1"), kind: "Lease" };
}

const keyOf = ({ ip, port }: ServerAddress): string => `${ip} ${port}`;

function addressOf(text: string | undefined): ServerAddress | undefined {
  const [ip = "", port = ""] = (text ?? "").split(" ", 2);
  return ip === "" || !/^\d{1,5}$/.test(port) ? undefined : { ip, port: Number(port) };
}
