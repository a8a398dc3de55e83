import { encodeJson } from "../../../src/base/json/encode.ts";
import { decodeJson } from "../../../src/base/json/decode.ts";
import { SyntaxFault } from "../../../src/base/json/syntax-fault.ts";
import type { JsonValue } from "../../../src/base/json/value.ts";
import { builtInKinds } from "../../../src/kinds/all.ts";
import { decode, TypeFault } from "../../../src/schema/decode.ts";
import { inOrder } from "../../../src/schema/order.ts";
import { decodeMessage } from "../../../src/schema/protobuf/decode-message.ts";
import { encodeEnvelope, openEnvelope } from "../../../src/schema/protobuf/envelope.ts";
import { encodeMessage } from "../../../src/schema/protobuf/encode-message.ts";
import { ProtobufFault } from "../../../src/schema/protobuf/protobuf-fault.ts";
import { attempt, expectSame, type Target, jsonTokens } from "../target.ts";

const kinds = ["Pod", "ConfigMap", "CustomResourceDefinition", "Service", "Event"].map((name) =>
  builtInKinds.find((kind) => kind.name === name)!,
);
const types = kinds.map(({ type }) => type);

function message(index: number, object: object): Buffer {
  return Buffer.concat([Buffer.of(index), encodeMessage(types[index]!, object as never)]);
}

/** Messages of objects; the first byte selects the kind. The decoded object, encoded again, is the same object. */
export const protobufTarget: Target = {
  name: "protobuf",
  files: [
    "src/schema/protobuf/decode-message.ts",
    "src/schema/protobuf/encode-message.ts",
    "src/schema/decode.ts",
  ],
  seeds: [
    message(0, {
      metadata: { name: "p", labels: { a: "b" }, creationTimestamp: "2026-01-01T00:00:00Z" },
      spec: {
        containers: [{ name: "c", ports: [{ containerPort: 80 }], resources: { limits: { cpu: "1" } } }],
        terminationGracePeriodSeconds: 30,
      },
    }),
    message(1, { metadata: { name: "m" }, data: { k: "v" }, binaryData: { b: "eA==" }, immutable: true }),
    message(2, {
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        names: { plural: "things", kind: "Thing" },
        scope: "Namespaced",
        versions: [],
      },
    }),
    message(3, {
      metadata: { name: "s" },
      spec: {
        ports: [
          { port: 80, targetPort: "http" },
          { port: 81, targetPort: 82 },
        ],
      },
    }),
  ],
  dictionary: ["\x0a\x02", "\x12\x00", "\x1a\x03", "\x08\x01", "name"],
  run(bytes) {
    const type = types[(bytes[0] ?? 0) % types.length]!;
    const decoded = attempt(() => decodeMessage(type, bytes.subarray(1)), ProtobufFault);
    if (decoded === undefined) return;
    const typed = attempt(() => decode(type, decoded), TypeFault);
    if (typed === undefined) return;
    const canonical = inOrder(type, typed.value);
    const encoded = encodeMessage(type, canonical);
    const again = decode(type, decodeMessage(type, encoded));
    if (!encodeMessage(type, inOrder(type, again.value)).equals(encoded)) {
      throw new Error("the object, decoded again, has another encoding");
    }
  },
};

/** Envelopes of messages. */
export const envelopeTarget: Target = {
  name: "envelope",
  files: ["src/schema/protobuf/envelope.ts"],
  seeds: [encodeEnvelope({ apiVersion: "v1", kind: "ConfigMap" }, types[1]!, { metadata: { name: "a" } })],
  dictionary: ["k8s\0", "\x0a", "\x12", "ConfigMap"],
  run(bytes) {
    attempt(() => openEnvelope(bytes), ProtobufFault);
  },
};

/** Objects in JSON, decoded by their declaration; the first byte selects the kind. */
export const objectTarget: Target = {
  name: "object",
  files: ["src/schema/decode.ts", "src/schema/scalars.ts", "src/schema/order.ts"],
  seeds: [
    '0{"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","ports":[{"containerPort":"80"}]}]}}',
    '1{"metadata":{"name":"m","creationTimestamp":"2026-01-01T00:00:00Z"},"data":{"k":"v"},"binaryData":{"b":"eA=="}}',
    '3{"spec":{"ports":[{"port":80,"targetPort":"x"}]},"unknown":{"a":[1]}}',
    '4{"eventTime":"2026-01-01T00:00:00.000001Z","count":1,"metadata":{"managedFields":[{"fieldsV1":{"f:a":{}}}]}}',
  ],
  dictionary: [...jsonTokens, '"metadata"', '"spec"', '"labels"', "1e400", "-1", "true"],
  run(bytes) {
    const type = types[(bytes[0] ?? 0) % types.length]!;
    const value = attempt(() => decodeJson(bytes.subarray(1)).value, SyntaxFault);
    if (value === undefined) return;
    const decoded = attempt(() => decode(type, value), TypeFault);
    if (decoded === undefined) return;
    const text = encodeJson(inOrder(type, decoded.value) as JsonValue);
    const again = decode(type, decodeJson(Buffer.from(text)).value);
    expectSame(inOrder(type, again.value), JSON.parse(text), "the object and its decoded text");
  },
};
