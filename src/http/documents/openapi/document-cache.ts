import { createHash } from "node:crypto";
import { RecentMap } from "../../../base/collections/recent-map.ts";
import { createYielder, type YieldIfDue } from "../../../base/turns/yielding.ts";

/** An encoded document. */
export interface DocumentBytes {
  /** The bytes in order, in pieces that are small enough to be sent in one turn. */
  readonly pieces: readonly Uint8Array[];
  /** Total number of bytes. */
  readonly length: number;
  /** Changes with the document. */
  readonly hash: string;
}

/** Encodes a document in pieces; yields to other requests in between. */
export type MakeDocument = (yieldIfDue: YieldIfDue) => Promise<readonly Uint8Array[]>;

/** Maximum size of the cache, in bytes. A larger document is encoded for each request. */
const maxCacheBytes = 32 * 1024 * 1024;
/** Larger than the number of group versions of any server. */
const maxDocuments = 10_000;

/** A cache of recently requested documents. A document is encoded once for all concurrent requests. */
export class DocumentCache {
  private readonly making = new Map<string, Promise<DocumentBytes>>();
  private readonly cache = new RecentMap<DocumentBytes>({ entries: maxDocuments, cost: maxCacheBytes });
  /** Hashes of the last encoded documents by key, which remain when the bytes are evicted. */
  private readonly hashes = new RecentMap<{ readonly revision: string; readonly hash: string }>({
    entries: maxDocuments,
    cost: Infinity,
  });

  /**
   * Returns a document from the cache, or encodes it.
   *
   * @param key identifies the document.
   * @param revision revision of its sources; a document of another revision is encoded again.
   */
  get(key: string, revision: string, make: MakeDocument): Promise<DocumentBytes> {
    const id = `${key} ${revision}`;
    const cached = this.cache.get(id);
    if (cached !== undefined) return Promise.resolve(cached);
    let making = this.making.get(id);
    if (making === undefined) {
      making = this.make(key, revision, make).finally(() => this.making.delete(id));
      this.making.set(id, making);
    }
    return making;
  }

  /** Returns the hash of an encoded document, whose bytes may have been evicted. */
  hashOf(key: string, revision: string): string | undefined {
    const hash = this.hashes.get(key);
    return hash?.revision === revision ? hash.hash : undefined;
  }

  private async make(key: string, revision: string, make: MakeDocument): Promise<DocumentBytes> {
    const yieldIfDue = createYielder();
    const pieces = await make(yieldIfDue);
    const summed = createHash("sha256");
    let length = 0;
    for (const piece of pieces) {
      summed.update(piece);
      length += piece.length;
      await yieldIfDue();
    }
    const hash = summed.digest("hex").toUpperCase();
    const document = { pieces, length, hash };
    const before = this.hashes.get(key);
    if (before !== undefined) this.cache.delete(`${key} ${before.revision}`);
    this.hashes.set(key, { revision, hash });
    this.cache.set(`${key} ${revision}`, document, length);
    return document;
  }
}
