import { prefixEnd } from "../keys.ts";

/** Maps the keys of a store to etcd keys under its prefix. */
export class Keyspace {
  /**
   * A key that every write transaction of the store writes too. Its modification revision is the store's latest revision,
   * independent of other users of the cluster. Its event ends each revision on the watch, so a watcher knows its position without
   * progress requests.
   */
  readonly marker: Buffer;
  /** Key of the store's floor, a decimal number. */
  readonly floor: Buffer;
  /** Key of the store's stamp. */
  readonly stamp: Buffer;
  readonly start: Buffer;
  readonly end: Buffer;
  private readonly dataPrefix: string;
  private readonly sharedPrefix: string;

  /** @param prefix for example `/plinth`; a trailing `/` is ignored. */
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

  /** Returns the etcd key for a key of the store. */
  outer(key: string): Buffer {
    return Buffer.from(this.dataPrefix + key);
  }

  /** Returns the etcd key of a shared value. */
  shared(name: string): Buffer {
    return Buffer.from(this.sharedPrefix + name);
  }

  /** Returns the `range_end` for a prefix of the store. */
  outerEnd(prefix: string): Buffer {
    return this.outer(prefixEnd(prefix));
  }

  /** Returns the store's key for an etcd key; undefined for the marker, floor and stamp. */
  inner(key: Uint8Array): string | undefined {
    const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString();
    return text.startsWith(`${this.dataPrefix}/`) ? text.slice(this.dataPrefix.length) : undefined;
  }
}
