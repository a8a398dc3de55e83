import { randomBytes } from "node:crypto";

/**
 * Creates a token for each write of one store object. A write transaction puts its token into the marker, so that a write without an
 * answer is recognized by the marker at the revision of the stored value, also when another server wrote an equal value.
 */
export class WriteTokens {
  private readonly store = randomBytes(8);
  private count = 0;

  next(): Buffer {
    const token = Buffer.alloc(14);
    this.store.copy(token);
    token.writeUIntBE(++this.count, 8, 6);
    return token;
  }
}
