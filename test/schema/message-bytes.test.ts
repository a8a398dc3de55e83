import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MessageBytes } from "../../src/schema/protobuf/message-bytes.ts";

/** Returns the bytes of MessageBytes, which writes from the end, and of another writer, which writes from the start. */
function written(back: (out: MessageBytes) => void, front: (writer: BinaryWriter) => void): [Buffer, Buffer] {
  const out = new MessageBytes(4);
  back(out);
  const writer = new BinaryWriter();
  front(writer);
  return [out.take(), Buffer.from(writer.finish())];
}

describe("MessageBytes", () => {
  it("writes texts of any length and script, with their length before them", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.string({ unit: "grapheme-ascii", maxLength: 300 }),
    );
    fc.assert(
      fc.property(fc.array(texts), (values) => {
        const [own, other] = written(
          (out) => values.toReversed().forEach((value) => out.text(value)),
          (writer) => values.forEach((value) => writer.string(value)),
        );
        expect(own).toEqual(other);
      }),
    );
  });

  it("writes a lone surrogate as the replacement character", () => {
    const out = new MessageBytes(4);
    out.text("a\ud800");
    expect(out.take().toString("hex")).toBe("0461efbfbd");
  });

  it("writes integers of up to 64 bits, and doubles", () => {
    const numbers = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n));
    fc.assert(
      fc.property(fc.array(numbers), fc.double(), (values, ratio) => {
        const [own, other] = written(
          (out) => {
            out.double(ratio);
            values.toReversed().forEach((value) => out.varint(value));
          },
          (writer) => {
            values.forEach((value) => writer.int64(value));
            writer.double(ratio);
          },
        );
        expect(own).toEqual(other);
      }),
    );
  });

  it.each([0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 300_000])(
    "writes a field of %i bytes within another field",
    (size) => {
      const bytes = new Uint8Array(size).fill(7);
      const [own, other] = written(
        (out) => {
          out.raw(bytes);
          out.open(2, 0);
          out.open(2047, 0);
        },
        (writer) => {
          writer.tag(2047, WireType.LengthDelimited).fork();
          writer.tag(2, WireType.LengthDelimited).bytes(bytes).join();
        },
      );
      expect(own.equals(other)).toBe(true);
    },
  );

  it("is empty after take", () => {
    const out = new MessageBytes(4);
    out.text("a text that is longer than the room");
    out.take();
    out.text("b");
    expect(out.take().toString("latin1")).toBe("\x01b");
  });
});
