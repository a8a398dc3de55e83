import { describe, expect, it } from "vitest";
import { SlowReaders } from "../../src/http/transport/slow-readers.ts";

const everyMs = 10;
const takeMs = 4 * everyMs;

function connection() {
  return {
    bytesWritten: 0,
    writableLength: 0,
    destroyed: false,
    write(bytes: number) {
      this.bytesWritten += bytes;
      this.writableLength += bytes;
    },
    take(bytes: number) {
      this.writableLength -= bytes;
    },
    destroy() {
      this.destroyed = true;
    },
  };
}

function looks(readers: SlowReaders, count: number): void {
  for (let look = 0; look < count; look++) readers.look();
}

describe("clients that don't take their answer", () => {
  it("lose their connection when the answer has waited for the time", () => {
    const readers = new SlowReaders(takeMs, everyMs);
    const slow = connection();
    slow.write(100);
    readers.sentTo(slow);
    looks(readers, 4);
    expect(slow.destroyed).toBe(false);
    looks(readers, 1);
    expect(slow.destroyed).toBe(true);
  });

  it("also lose it when they take some of it, or ask for more meanwhile", () => {
    const readers = new SlowReaders(takeMs, everyMs);
    const slow = connection();
    slow.write(100);
    readers.sentTo(slow);
    for (let look = 0; look < 5; look++) {
      slow.take(10);
      slow.write(50);
      readers.sentTo(slow);
      readers.look();
    }
    expect(slow.destroyed).toBe(true);
  });

  it("keep it when each answer is taken before that, though another always waits", () => {
    const readers = new SlowReaders(takeMs, everyMs);
    const busy = connection();
    for (let look = 0; look < 20; look++) {
      busy.write(100);
      readers.sentTo(busy);
      readers.look();
      busy.take(100);
      busy.write(1);
      busy.take(1);
    }
    expect(busy.destroyed).toBe(false);
  });

  it("keep it when the answer goes out, and when a stream follows that others see to", () => {
    const readers = new SlowReaders(takeMs, everyMs);
    const [quick, watching] = [connection(), connection()];
    for (const one of [quick, watching]) {
      one.write(100);
      readers.sentTo(one);
      readers.look();
      one.take(100);
    }
    watching.write(100);
    readers.streamsTo(watching);
    looks(readers, 20);
    expect([quick.destroyed, watching.destroyed]).toEqual([false, false]);
  });
});
