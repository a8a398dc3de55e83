import { gzip, gzipSync } from "node:zlib";
import type { BodyStream } from "../transport/body-stream.ts";
import type { HandlerGuard } from "../transport/guard.ts";
import type { HeaderLines } from "../transport/header-lines.ts";

/** Writes up to this size are compressed at once, in less than 0.2 ms; larger ones on another thread. */
const maxBytesAtOnce = 8 * 1024;
const options = { level: 1 };

/** Compressed forms of writes, which watches with the same events share. */
const members = new WeakMap<Uint8Array, Buffer | Promise<Buffer | Error>>();

/** Returns the gzip member of bytes that don't change. */
function memberOf(bytes: Uint8Array): Buffer | Promise<Buffer | Error> {
  let member = members.get(bytes);
  if (member === undefined) {
    member = bytes.length <= maxBytesAtOnce ? gzipSync(bytes, options) : compress(bytes);
    members.set(bytes, member);
  }
  return member;
}

/** Resolves with an error instead of rejecting: a write that waits for others looks at its form later. */
function compress(bytes: Uint8Array): Promise<Buffer | Error> {
  return new Promise((resolve) => {
    gzip(bytes, options, (error, packed) => {
      if (error === null) members.set(bytes, packed);
      else members.delete(bytes);
      resolve(error ?? packed);
    });
  });
}

/**
 * A body of gzip members, one for each write, which clients read as one compressed stream. Unlike a stream with one member, it needs no
 * memory between writes, and bodies with the same writes share the work. Written bytes must not change.
 */
export class GzipMembers implements BodyStream {
  /** Resolves when the writes that wait for their compression are passed on; undefined if none waits. It never rejects. */
  private waiting: Promise<void> | undefined;
  private waitingBytes = 0;

  constructor(
    private readonly inner: BodyStream,
    private readonly guard: HandlerGuard,
  ) {}

  get backlogBytes(): number {
    return this.waitingBytes + this.inner.backlogBytes;
  }

  get closed(): boolean {
    return this.inner.closed;
  }

  get needsDrain(): boolean {
    return this.waiting !== undefined || this.inner.needsDrain;
  }

  write(bytes: Uint8Array): boolean {
    if (bytes.length === 0) return !this.needsDrain;
    const member = memberOf(bytes);
    if (this.waiting === undefined && !(member instanceof Promise)) return this.inner.write(member);
    this.waitingBytes += bytes.length;
    this.afterWaiting(async () => {
      const packed = await member;
      if (packed instanceof Error) throw packed;
      this.waitingBytes -= bytes.length;
      if (!this.inner.closed) this.inner.write(packed);
    });
    return false;
  }

  onDrain(listener: () => void): void {
    if (this.waiting === undefined) return this.inner.onDrain(listener);
    const drained = () => this.guard.run("drain", () => this.onDrain(listener), this.inner);
    this.waiting.then(drained, drained);
  }

  end(trailers?: HeaderLines): void {
    if (this.waiting === undefined) this.inner.end(trailers);
    else this.afterWaiting(() => this.inner.end(trailers));
  }

  destroy(): void {
    this.inner.destroy();
  }

  /** Runs a step after the writes that wait; a failure closes the connection. */
  private afterWaiting(step: () => void | Promise<void>): void {
    const before = this.waiting;
    const run = async (resolve: () => void): Promise<void> => {
      try {
        await before;
        await step();
      } finally {
        resolve();
      }
    };
    const waiting = new Promise<void>((resolve) =>
      this.guard.run("compressed", () => run(resolve), this.inner),
    ).then(() => {
      if (this.waiting === waiting) this.waiting = undefined;
    });
    this.waiting = waiting;
  }
}
