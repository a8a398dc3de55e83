import type { ApiObject } from "../../schema/kind.ts";
import { canonicalAddress } from "./address-range.ts";
import type { ServiceSpecValue } from "./families.ts";
import { nextTurn } from "../../base/turns/yielding.ts";
import type { Entry, Revision, Store, WriteCondition } from "../../storage/store.ts";
import { asBuffer } from "../objects/stored.ts";

/** Store prefix of claims; no resource type has it. */
export const claimPrefix = "/core/service-claims/";

/** Key of a claim under the prefix: `addresses/10.0.0.7` or `ports/30080`. */
export type ClaimName = `addresses/${string}` | `ports/${number}`;

/** Returns the address of a claim; undefined for a claim on a port. */
export function addressIn(name: ClaimName): string | undefined {
  return name.startsWith("addresses/") ? name.slice("addresses/".length) : undefined;
}

/** A stored claim. */
export interface Claim {
  readonly name: ClaimName;
  /** `namespace/name` of the service. */
  readonly owner: string;
  readonly revision: Revision;
}

/**
 * The owners of addresses and ports. Each claim is an entry of the store that is created before its service, so no two services get the
 * same, also from different processes.
 */
export class Claims {
  constructor(private readonly store: Store) {}

  /**
   * Creates a claim; false if it exists, or a condition fails.
   *
   * @throws {StoreError}
   */
  async acquire(name: ClaimName, owner: string, conditions?: readonly WriteCondition[]): Promise<boolean> {
    const head = `{"owner":${JSON.stringify(owner)},"revision":"`;
    const draft = {
      header: Buffer.from("{}"),
      body: Buffer.from(`${head}"}`),
      revisionAt: Buffer.byteLength(head),
    };
    return (await this.store.commit({ kind: "create", key: claimPrefix + name, draft, conditions })).ok;
  }

  /**
   * Reads a claim; undefined if it doesn't exist.
   *
   * @throws {StoreError}
   */
  async find(name: ClaimName): Promise<Claim | undefined> {
    const entry = await this.store.get(claimPrefix + name);
    return entry === undefined ? undefined : readClaim(entry);
  }

  /**
   * Deletes a claim; false if it has changed since it was read, or a condition fails.
   *
   * @throws {StoreError}
   */
  async release({ name, revision }: Claim, conditions: readonly WriteCondition[]): Promise<boolean> {
    const key = claimPrefix + name;
    return (await this.store.commit({ kind: "delete", key, expected: revision, conditions })).ok;
  }

  /** Every claim. */
  async *all(): AsyncGenerator<Claim> {
    for await (const entry of this.entries("")) yield readClaim(entry);
  }

  /** All claimed addresses, or all claimed ports, as texts. */
  async *claimed(sort: "addresses/" | "ports/"): AsyncGenerator<string> {
    for await (const { key } of this.entries(sort)) yield key.slice(claimPrefix.length + sort.length);
  }

  private async *entries(sort: string): AsyncGenerator<Entry> {
    let after: string | undefined;
    for (;;) {
      const page = await this.store.range({ prefix: claimPrefix + sort, after, limit: 1000 });
      yield* page.entries;
      if (!page.more) return;
      after = page.entries.at(-1)!.key;
      // A synchronous store would block other work.
      await nextTurn();
    }
  }
}

function readClaim({ key, body, revision }: Entry): Claim {
  const { owner } = JSON.parse(asBuffer(body).toString("utf8")) as { owner: string };
  return { name: key.slice(claimPrefix.length) as ClaimName, owner, revision };
}

/** The claim on an address. */
export function addressClaim(address: string): ClaimName {
  return `addresses/${canonicalAddress(address)}`;
}

/** The claims of a service. */
export function claimsOf(object: ApiObject): Set<ClaimName> {
  const {
    clusterIPs = [],
    clusterIP,
    ports = [],
    healthCheckNodePort = 0,
  } = (object["spec"] ?? {}) as ServiceSpecValue;
  const claims = new Set<ClaimName>();
  const addresses = clusterIPs.length > 0 ? clusterIPs : clusterIP === undefined ? [] : [clusterIP];
  for (const address of addresses) {
    if (address !== "" && address !== "None") claims.add(addressClaim(address));
  }
  for (const { nodePort = 0 } of ports) if (nodePort !== 0) claims.add(`ports/${nodePort}`);
  if (healthCheckNodePort !== 0) claims.add(`ports/${healthCheckNodePort}`);
  return claims;
}
