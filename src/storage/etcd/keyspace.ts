import { prefixEnd } from "../keys.ts";

/** Where one store's keys lie in a cluster that it may share with others. */
export class Keyspace {
  /**
   * Written by every write transaction of the store, together with the object: its modification revision is the
   * store's latest revision, and its event marks each revision on the watch. So the store's revision line doesn't move
   * with the cluster's other users, and a watcher knows how far it has come without asking for progress.
   */
  readonly marker: Buffer;
  /** Holds the store's floor as decimal digits. */
  readonly floor: Buffer;
  /** Key of the store's stamp. */
  readonly stamp: Buffer;
  readonly start: Buffer;
  readonly end: Buffer;
  private readonly dataPrefix: string;
  private readonly sharedPrefix: string;

  /** @param prefix for instance `/plinth`; a `/` at its end changes nothing. */
  constructor(prefix: string) {
    let end = prefix.length;
    while (end > 0 && prefix[end - 1] === "/") end--;
    const root = prefix.slice(0, end);
    this.dataPrefix = `${root}/data`;
    this.sharedPrefix = `${root}/meta/shared/`;
    this.marker = Buffer.from(`${root}/meta/revision`);
    this.floor = Buffer.from(`${root}/meta/floor`);
    this.stamp = Buffer.from(`${root}/meta/stamp`);
    this.start = Buffer.from(`${root}/`);
    this.end = Buffer.from(prefixEnd(`${root}/`));
  }

  /** The cluster's key for a key of the store. */
  outer(key: string): Buffer {
    return Buffer.from(this.dataPrefix + key);
  }

  /** The cluster's key of a value that the store's users share. */
  shared(name: string): Buffer {
    return Buffer.from(this.sharedPrefix + name);
  }

  /** The end of the range of a prefix of the store. */
  outerEnd(prefix: string): Buffer {
    return this.outer(prefixEnd(prefix));
  }

  /** The store's key for a key of the cluster, or `undefined` for the store's own marks. */
  inner(key: Uint8Array): string | undefined {
    const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString();
    return text.startsWith(`${this.dataPrefix}/`) ? text.slice(this.dataPrefix.length) : undefined;
  }
}
