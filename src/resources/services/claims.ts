import { setImmediate } from "node:timers/promises";
import type { Entry, Revision, Store, WriteCondition } from "../../storage/store.ts";
import { asBuffer } from "../objects/stored.ts";

/** Prefix of claims in the store; no resource type is served from it. */
export const claimPrefix = "/core/service-claims/";

/** A claim's place: `addresses/10.0.0.7` or `ports/30080`. */
export type ClaimName = `addresses/${string}` | `ports/${number}`;

/** A claim as it is stored. */
export interface Claim {
  readonly name: ClaimName;
  /** Namespace and name of the service, with a slash between them. */
  readonly owner: string;
  readonly revision: Revision;
}

/**
 * Who has which address and port. A claim is an entry of the store of its own, made before the service that needs it, so
 * that no two services get the same, whichever process makes them.
 */
export class Claims {
  constructor(private readonly store: Store) {}

  /**
   * Takes a claim; false when it is taken, or a condition doesn't hold.
   *
   * @throws {StoreError}
   */
  async take(name: ClaimName, owner: string, conditions?: readonly WriteCondition[]): Promise<boolean> {
    const head = `{"owner":${JSON.stringify(owner)},"revision":"`;
    const draft = {
      header: Buffer.from("{}"),
      body: Buffer.from(`${head}"}`),
      revisionAt: Buffer.byteLength(head),
    };
    return (await this.store.commit({ kind: "create", key: claimPrefix + name, draft, conditions })).ok;
  }

  /**
   * Reads a claim; undefined when it is free.
   *
   * @throws {StoreError}
   */
  async find(name: ClaimName): Promise<Claim | undefined> {
    const entry = await this.store.get(claimPrefix + name);
    return entry === undefined ? undefined : readClaim(entry);
  }

  /**
   * Gives a claim up; false when it isn't that of its revision any more, or a condition doesn't hold.
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
  async *taken(sort: "addresses/" | "ports/"): AsyncGenerator<string> {
    for await (const { key } of this.entries(sort)) yield key.slice(claimPrefix.length + sort.length);
  }

  private async *entries(sort: string): AsyncGenerator<Entry> {
    let after: string | undefined;
    for (;;) {
      const page = await this.store.range({ prefix: claimPrefix + sort, after, limit: 1000 });
      yield* page.entries;
      if (!page.more) return;
      after = page.entries.at(-1)!.key;
      // The store may answer without ever leaving the turn.
      await setImmediate();
    }
  }
}

function readClaim({ key, body, revision }: Entry): Claim {
  const { owner } = JSON.parse(asBuffer(body).toString("utf8")) as { owner: string };
  return { name: key.slice(claimPrefix.length) as ClaimName, owner, revision };
}
