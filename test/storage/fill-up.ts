import { type Store, StoreFullError } from "../../src/storage/store.ts";

/** What happened when a store was filled. */
export interface FillOutcome {
  readonly acknowledged: number;
  readonly refusal: string;
  readonly refusedAs: string;
  /** How many of the acknowledged keys were read back whole. */
  readonly readBack: number;
  readonly counted: number;
  readonly problems: readonly string[];
}

const BODY = Buffer.alloc(20_000, "x");

/** Writes, several at a time, until the store refuses; then reads everything back. */
export async function fillUp(store: Store): Promise<FillOutcome> {
  const acknowledged: string[] = [];
  let refusal: unknown;
  for (let i = 0; refusal === undefined; i += 8) {
    const keys = Array.from({ length: 8 }, (_, n) => `/full/test/n/k${i + n}`);
    const draft = { header: new Uint8Array(0), body: BODY, revisionAt: 0 };
    const results = await Promise.allSettled(keys.map((key) => store.commit({ kind: "create", key, draft })));
    for (const [n, result] of results.entries()) {
      if (result.status === "fulfilled") acknowledged.push(keys[n]!);
      else refusal ??= result.reason;
    }
  }
  let readBack = 0;
  for (const key of acknowledged) {
    const entry = await store.get(key);
    if (entry?.body.length === BODY.length + String(entry?.revision).length) readBack++;
  }
  return {
    acknowledged: acknowledged.length,
    refusal: refusal instanceof Error ? refusal.message : String(refusal),
    refusedAs: refusal instanceof StoreFullError ? "StoreFullError" : String(refusal),
    readBack,
    counted: await store.count("/full/test/"),
    problems: await store.check(),
  };
}
