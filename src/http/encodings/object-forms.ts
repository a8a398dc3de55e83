import type { Entry, Revision } from "../../storage/store.ts";
import type { Encoding } from "./encoding.ts";

/** Maximum total size of the cache, in bytes. */
const maxBytes = 4 * 1024 * 1024;
/** Larger objects aren't cached: they would displace many others. */
const maxObjectBytes = 64 * 1024;
/** Approximate memory of an object besides its bytes. */
const overheadBytes = 200;

interface Form {
  readonly encoding: string;
  readonly revision: Revision;
  readonly bytes: Uint8Array;
}

/**
 * Caches encoded objects, for encodings that take longer than sending. Each object is encoded once per revision,
 * regardless of the number of readers. The oldest entries are evicted.
 */
export class ObjectForms {
  private readonly forms = new Map<string, Form>();
  private bytes = 0;

  /** @param limit maximum size in bytes. */
  constructor(private readonly limit: number = maxBytes) {}

  /** Returns a stored object in an encoding. */
  of(encoding: Encoding, entry: Entry): Uint8Array {
    if (encoding.isCacheable !== true) return encoding.object(entry.body);
    const { key, revision } = entry;
    const cached = this.forms.get(key);
    if (cached !== undefined && cached.revision === revision && cached.encoding === encoding.key) {
      return cached.bytes;
    }
    const bytes = encoding.object(entry.body);
    if (cached !== undefined) this.forget(key, cached);
    if (bytes.length <= maxObjectBytes) this.keep(key, { encoding: encoding.key, revision, bytes });
    return bytes;
  }

  private keep(key: string, form: Form): void {
    this.forms.set(key, form);
    this.bytes += takenBy(form);
    for (const [oldest, old] of this.forms) {
      if (this.bytes <= this.limit) return;
      this.forget(oldest, old);
    }
  }

  private forget(key: string, form: Form): void {
    this.forms.delete(key);
    this.bytes -= takenBy(form);
  }
}

function takenBy({ bytes }: Form): number {
  return bytes.length + overheadBytes;
}
