import { CborFault, decodeCbor } from "../../../src/base/cbor/decode-cbor.ts";
import { encodeCbor } from "../../../src/base/cbor/encode-cbor.ts";
import { decodeJson } from "../../../src/base/json/decode.ts";
import { encodeJson } from "../../../src/base/json/encode.ts";
import { deepEqual } from "../../../src/base/json/value.ts";
import { attempt, expectSame, type Target } from "../target.ts";

/** CBOR data items. A decoded value is JSON; encoded in either format and decoded again, it is the same. */
export const cborTarget: Target = {
  name: "cbor",
  files: ["src/base/cbor/decode-cbor.ts"],
  seeds: [
    encodeCbor({
      kind: "Secret",
      metadata: { name: "é", labels: {}, finalizers: [] },
      numbers: [0, -1, 300, 70_000, 2n ** 62n, -(2n ** 63n), 0.5, 1e300, 1.1],
      others: [true, false, null],
    }),
    Buffer.from("bf6161ff", "hex"),
    Buffer.from("9f7f616161620000ff5f4161ffff", "hex"),
    Buffer.from("82c074323031332d30332d32315432303a30343a30305ac11a514b67b0", "hex"),
    Buffer.from("d9d9f7a34161d543fbffff4162d643fbffff4163d743fbffff", "hex"),
  ],
  dictionary: ["\x5f", "\x7f", "Aa", "kind"],
  run(bytes) {
    const value = attempt(() => decodeCbor(bytes), CborFault);
    if (value === undefined) return;
    const again = decodeCbor(encodeCbor(value));
    if (!deepEqual(again, value)) throw new Error("the value, encoded and decoded again, differs");
    expectSame(encodeJson(decodeJson(Buffer.from(encodeJson(value))).value), encodeJson(value), "JSON forms");
  },
};
