import { setImmediate } from "node:timers/promises";
import type { Entry, Store } from "../../storage/store.ts";
import { asBuffer } from "../stored.ts";

/** Prefix of claims in the store; no resource type is served from it. */
export const claimPrefix = "/core/service-claims/";

/** A claim's place: `addresses/10.0.0.7` or `ports/30080`. */
export type ClaimName = `addresses/${string}` | `ports/${number}`;

/**
 * Who has which address and port. A claim is an entry of the store of its own, made before the service that needs it, so
 * that no two services get the same, whichever process makes them.
 */
export class Claims {
  constructor(private readonly store: Store) {}

  /** Takes a claim; false when it is taken. */
  async take(name: ClaimName, owner: string): Promise<boolean> {
    const head = `{"owner":${JSON.stringify(owner)},"revision":"`;
    const draft = {
      header: Buffer.from("{}"),
      body: Buffer.from(`${head}"}`),
      revisionAt: Buffer.byteLength(head),
    };
    return (await this.store.commit({ kind: "create", key: claimPrefix + name, draft })).ok;
  }

  /** The owner of a claim; undefined when it is free. */
  async owner(name: ClaimName): Promise<string | undefined> {
    const entry = await this.store.get(claimPrefix + name);
    if (entry === undefined) return undefined;
    return (JSON.parse(asBuffer(entry.body).toString("utf8")) as { owner: string }).owner;
  }

  /** Gives a claim up, if it is the owner's. */
  async release(name: ClaimName, owner: string): Promise<void> {
    const entry = await this.store.get(claimPrefix + name);
    if (entry === undefined || (await this.owner(name)) !== owner) return;
    await this.store.commit({ kind: "delete", key: entry.key, expected: entry.revision });
  }

  /** Every claim and its owner. */
  async *all(): AsyncGenerator<{ readonly name: ClaimName; readonly owner: string }> {
    for await (const { key, body } of this.entries("")) {
      const { owner } = JSON.parse(asBuffer(body).toString("utf8")) as { owner: string };
      yield { name: key.slice(claimPrefix.length) as ClaimName, owner };
    }
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
