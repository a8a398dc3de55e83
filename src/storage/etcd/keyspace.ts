import { prefixEnd } from "../keys.ts";

/** The keys of one store in a cluster with other users. */
export class Keyspace {
  /**
   * Written by every write transaction of the store, together with the object: its modification revision is the
   * store's latest revision, and its event marks each revision in the watch. So other users of the cluster don't change the
   * store's revision, and a watcher knows its progress without requests.
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

  /** @param prefix such as `/plinth`; a trailing `/` is ignored. */
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

  /** Returns the key in the cluster for a key of the store. */
  outer(key: string): Buffer {
    return Buffer.from(this.dataPrefix + key);
  }

  /** Returns the key in the cluster of a value that the servers share. */
  shared(name: string): Buffer {
    return Buffer.from(this.sharedPrefix + name);
  }

  /** Returns the end of the range of a prefix of the store. */
  outerEnd(prefix: string): Buffer {
    return this.outer(prefixEnd(prefix));
  }

  /** Returns the key of the store for a key in the cluster; undefined for internal keys. */
  inner(key: Uint8Array): string | undefined {
    const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString();
    return text.startsWith(`${this.dataPrefix}/`) ? text.slice(this.dataPrefix.length) : undefined;
  }
}
