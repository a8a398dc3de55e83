import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeJson } from "../../src/base/json/encode.ts";
import type { JsonValue } from "../../src/base/json/value.ts";
import { builtInKinds } from "../../src/kinds/all.ts";
import { decode } from "../../src/schema/decode.ts";
import { groupName } from "../../src/schema/kind.ts";
import { inOrder } from "../../src/schema/order.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { transcodeMessage } from "../../src/schema/protobuf/transcode.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { arbitraryStruct } from "../support/arbitrary-value.ts";

/** The order in which objects are stored: the version is the first of the metadata. */
function asStored(object: Record<string, JsonValue>): JsonValue {
  const { metadata } = object;
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return object;
  const { resourceVersion, ...rest } = metadata as Record<string, JsonValue>;
  const first = resourceVersion === undefined ? {} : { resourceVersion };
  return { kind: "Kind", apiVersion: "v1", ...object, metadata: { ...first, ...rest } };
}

describe("transcoding stored JSON to protobuf", () => {
  test.each(
    builtInKinds.map(
      (kind) => [`${groupName(kind.group, platform)}/${kind.version} ${kind.name}`, kind] as const,
    ),
  )("%s: the bytes equal those of the decoded object", (_name, kind) => {
    fc.assert(
      fc.property(arbitraryStruct(kind.type), (given) => {
        const { value } = decode(kind.type, given);
        const canonical = inOrder(kind.type, value) as Record<string, JsonValue>;
        const text = encodeJson(asStored(canonical));
        const json = { bytes: Buffer.from(`,${text},`), start: 1 };
        const tree = encodeMessage(kind.type, JSON.parse(text) as Record<string, unknown>);
        expect(transcodeMessage(kind.type, json)?.toString("hex")).toBe(tree.toString("hex"));
      }),
      { numRuns: 40 },
    );
  });
});
