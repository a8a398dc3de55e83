import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { decode } from "../../src/schema/decode.ts";
import { groupName } from "../../src/schema/kind.ts";
import { inOrder } from "../../src/schema/order.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { hasProtobufEncoding } from "../../src/schema/protobuf/numbered.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { arbitraryStruct } from "../support/arbitrary-value.ts";

/** Replaces empty lists by null: protobuf doesn't distinguish them. */
function emptyAsNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(emptyAsNull);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, emptyAsNull(member)]));
}

describe("protobuf encoding of kinds", () => {
  test("every built-in kind has a protobuf encoding", () => {
    expect(builtInKinds.filter(({ type }) => !hasProtobufEncoding(type)).map(({ name }) => name)).toEqual([]);
  });

  test.each(
    builtInKinds.map(
      (kind) => [`${groupName(kind.group, platform)}/${kind.version} ${kind.name}`, kind] as const,
    ),
  )("C-9.1-08 %s: encoding in protobuf and decoding loses nothing", (_name, kind) => {
    fc.assert(
      fc.property(arbitraryStruct(kind.type), (given) => {
        const { value } = decode(kind.type, given);
        const canonical = inOrder(kind.type, value);
        const message = encodeMessage(kind.type, canonical);
        const back = inOrder(kind.type, decode(kind.type, decodeMessage(kind.type, message)).value);
        expect(emptyAsNull(back)).toEqual(emptyAsNull(canonical));
        // The decoded object has the same encoding.
        expect(Buffer.from(encodeMessage(kind.type, back)).equals(Buffer.from(message))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
