import type { Entry, Revision } from "../../storage/store.ts";
import type { Encoding } from "./encoding.ts";

/** What is kept of all objects together, in bytes. */
const maxBytes = 4 * 1024 * 1024;
/** A larger object is written anew each time: it would displace many others. */
const maxObjectBytes = 64 * 1024;
/** Roughly what an object takes beside its bytes. */
const overheadBytes = 200;

interface Form {
  readonly encoding: string;
  readonly revision: Revision;
  readonly bytes: Uint8Array;
}

/**
 * Objects as they were written for those who read them lately, in forms that take longer to write than to send. Each is written
 * once a revision, however many clients read it. What was written first goes first when there is no room.
 */
export class ObjectForms {
  private readonly forms = new Map<string, Form>();
  private bytes = 0;

  /** @param limit the most bytes that are kept. */
  constructor(private readonly limit: number = maxBytes) {}

  /** A stored object as an encoding writes it. */
  of(encoding: Encoding, entry: Entry): Uint8Array {
    if (encoding.isKept !== true) return encoding.object(entry.body);
    const { key, revision } = entry;
    const known = this.forms.get(key);
    if (known !== undefined && known.revision === revision && known.encoding === encoding.key) {
      return known.bytes;
    }
    const bytes = encoding.object(entry.body);
    if (known !== undefined) this.forget(key, known);
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
