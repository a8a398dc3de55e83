import { createHash } from "node:crypto";
import { RecentMap } from "../../../base/recent-map.ts";
import { turnGiver, type GiveTurn } from "../../../base/turns.ts";

/** A document as it goes out. */
export interface DocumentBytes {
  /** One after the other; of a large document each is small enough to be sent in one turn. */
  readonly pieces: readonly Uint8Array[];
  /** Of all pieces together, in bytes. */
  readonly length: number;
  /** Changes when the document does. */
  readonly hash: string;
}

/** Makes the pieces of a document, others having their turn in between. */
export type MakeDocument = (giveTurn: GiveTurn) => Promise<readonly Uint8Array[]>;

/** What all documents that are kept may take, in bytes; a larger one is made anew each time. */
const keptBytes = 32 * 1024 * 1024;
/** More than there are group versions on any server. */
const keptDocuments = 10_000;

/**
 * The documents that were asked for lately. Making one gives others their turn, and is done once for all who ask for it
 * meanwhile.
 */
export class KeptDocuments {
  private readonly making = new Map<string, Promise<DocumentBytes>>();
  private readonly made = new RecentMap<DocumentBytes>({ entries: keptDocuments, cost: keptBytes });
  /** By key: the last one that was made, to know it again without making it. */
  private readonly hashes = new RecentMap<{ readonly revision: string; readonly hash: string }>({
    entries: keptDocuments,
    cost: Infinity,
  });

  /**
   * Gives a document.
   *
   * @param key which document it is.
   * @param revision of what it is made of; one of an earlier revision is made anew.
   */
  get(key: string, revision: string, make: MakeDocument): Promise<DocumentBytes> {
    const id = `${key} ${revision}`;
    const kept = this.made.get(id);
    if (kept !== undefined) return Promise.resolve(kept);
    let making = this.making.get(id);
    if (making === undefined) {
      making = this.make(key, revision, make).finally(() => this.making.delete(id));
      this.making.set(id, making);
    }
    return making;
  }

  /** The hash of a document that was made, though its bytes may not be there any more. */
  hashOf(key: string, revision: string): string | undefined {
    const found = this.hashes.get(key);
    return found?.revision === revision ? found.hash : undefined;
  }

  private async make(key: string, revision: string, make: MakeDocument): Promise<DocumentBytes> {
    const giveTurn = turnGiver();
    const pieces = await make(giveTurn);
    const summed = createHash("sha256");
    let length = 0;
    for (const piece of pieces) {
      summed.update(piece);
      length += piece.length;
      await giveTurn();
    }
    const hash = summed.digest("hex").toUpperCase();
    const document = { pieces, length, hash };
    const before = this.hashes.get(key);
    if (before !== undefined) this.made.delete(`${key} ${before.revision}`);
    this.hashes.set(key, { revision, hash });
    this.made.set(`${key} ${revision}`, document, length);
    return document;
  }
}
