import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CustomResourceDefinition } from "../../src/kinds/apiextensions/custom-resource-definition.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { inOrder } from "../../src/schema/order.ts";
import { PartialObjectMetadata } from "../../src/schema/object-meta.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { transcodeFields, transcodeMessage } from "../../src/schema/protobuf/transcode.ts";
import type { StructType } from "../../src/schema/types.ts";

function ofTree(type: StructType, text: string): string {
  return encodeMessage(type, JSON.parse(text) as Record<string, unknown>).toString("hex");
}

function transcoded(type: StructType, text: string): string | undefined {
  return transcodeMessage(type, { bytes: Buffer.from(text), start: 0 })?.toString("hex");
}

describe("transcoding stored JSON to protobuf", () => {
  it.each([
    ["an empty object", "{}"],
    ["an empty struct", '{"metadata":{}}'],
    ["unknown members", '{"kind":"X","apiVersion":"v1","more":[{"a":"]}"}],"metadata":{}}'],
    ["nulls", '{"metadata":{"name":null,"labels":null,"uid":"u"},"data":null}'],
    ["a resourceVersion before the name", '{"metadata":{"resourceVersion":"9","name":"a","uid":"u"}}'],
    ["a resourceVersion only", '{"metadata":{"resourceVersion":"9"},"immutable":true}'],
    ["escapes", '{"data":{"a":"\\"\\\\\\n\\u00e9\\ud83d\\ude00","b":"\\ud800"},"immutable":false}'],
    ["an escape after a long text", `{"data":{"a":"${"x".repeat(100)}","b":"${"y".repeat(100)}\\n"}}`],
    ["keys with escapes", '{"data":{"a\\"b":"1","c":"2"}}'],
    ["keys that JavaScript sorts as numbers", '{"data":{"9":"nine","10":"ten","1a":"x"}}'],
    ["keys outside the basic multilingual plane", '{"data":{"\u{ff00}":"1","\u{1f600}":"2"}}'],
    [
      "texts with lengths of one and three bytes",
      `{"data":{"a":"${"x".repeat(127)}","b":"${"é".repeat(8192)}"}}`,
    ],
    ["bytes", '{"binaryData":{"a":"AAEC","b":"","c":"/+8="}}'],
    ["a time with a fraction", '{"metadata":{"creationTimestamp":"2026-01-02T03:04:05.000006Z"}}'],
    ["a time before 1970", '{"metadata":{"creationTimestamp":"1969-12-31T23:59:59Z"}}'],
    ["a time after 2038", '{"metadata":{"creationTimestamp":"2099-12-31T23:59:59Z"}}'],
    ["numbers of any size", '{"metadata":{"generation":2147483648,"deletionGracePeriodSeconds":-1}}'],
    ["the largest numbers", '{"metadata":{"generation":9007199254740991,"deletionGracePeriodSeconds":0}}'],
    [
      "managed fields",
      '{"metadata":{"managedFields":[{"manager":"a","fieldsV1":{"f:a":{"k:{\\"b\\":1}":{".":{}}}}}]}}',
    ],
  ])("equals encoding the parsed object: %s", (_name, text) => {
    expect(transcoded(ConfigMap.type, text)).toBe(ofTree(ConfigMap.type, text));
  });

  it("equals encoding the parsed object for recursive messages whose lengths need more and more bytes", () => {
    let schema = '{"description":"x"}';
    for (const size of [1, 100, 10, 20_000, 1, 3_000_000, 1]) {
      schema = `{"description":"${"d".repeat(size)}","properties":{"a":${schema}}}`;
    }
    const versions = `[{"name":"v1","schema":{"openAPIV3Schema":${schema}},"served":true}]`;
    const object = JSON.parse(`{"spec":{"group":"g","versions":${versions}}}`) as Record<string, unknown>;
    const text = JSON.stringify(inOrder(CustomResourceDefinition.type, object));
    expect(transcoded(CustomResourceDefinition.type, text)).toBe(ofTree(CustomResourceDefinition.type, text));
  });

  it.each([
    [
      "a field before fields with lower numbers",
      '{"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"c"}]}}',
    ],
    ["numeric and named ports", portsOf("8080", '"http"')],
    ["quantities", '{"spec":{"overhead":{"cpu":"100m","memory":"1Gi"}}}'],
    ["inlined messages", '{"spec":{"volumes":[{"name":"a","configMap":{"name":"c"}},{"name":"b"}]}}'],
  ])("equals encoding the parsed pod: %s", (_name, given) => {
    const text = JSON.stringify(inOrder(Pod.type, JSON.parse(given) as Record<string, unknown>));
    expect(transcoded(Pod.type, text)).toBe(ofTree(Pod.type, text));
  });

  it("encodes only the metadata for PartialObjectMetadata", () => {
    const text = '{"metadata":{"resourceVersion":"9","name":"a"},"spec":{"a":[1,{"b":"}"}]},"status":{}}';
    const partial = '{"metadata":{"resourceVersion":"9","name":"a"}}';
    expect(transcoded(PartialObjectMetadata, text)).toBe(ofTree(PartialObjectMetadata, partial));
  });

  it("encodes many objects, each as a field", () => {
    const texts = ['{"metadata":{"name":"a"}}', `{"data":{"a":"${"x".repeat(20_000)}"}}`, "{}"];
    const bytes = Buffer.from(texts.join(","));
    let start = 0;
    const places = texts.map((text) => {
      const place = { bytes, start };
      start += text.length + 1;
      return place;
    });
    const list = transcodeFields(ConfigMap.type, 2, places)!;
    const expected = texts.map((text) => {
      const message = Buffer.from(ofTree(ConfigMap.type, text), "hex");
      return Buffer.concat([Buffer.from([0x12]), varint(message.length), message]);
    });
    expect(list.equals(Buffer.concat(expected))).toBe(true);
  });

  it.each([
    ["fields in another order", '{"data":{"a":"b"},"metadata":{"name":"a"}}'],
    ["a null in a list", '{"metadata":{"finalizers":[null]}}'],
    ["a value of another type", '{"metadata":{"name":{"a":1}}}'],
  ])("returns undefined for %s", (_name, text) => {
    expect(transcoded(ConfigMap.type, text)).toBeUndefined();
    // A failure doesn't affect the next call.
    expect(transcoded(ConfigMap.type, "{}")).toBe(ofTree(ConfigMap.type, "{}"));
  });

  it("throws nothing but SyntaxError for bytes that aren't JSON", () => {
    const text = Buffer.from(
      `{"metadata":{"resourceVersion":"9","name":"a","generation":7,"labels":{"a":"b"},"finalizers":["x"]},` +
        `"data":{"a":"\\n","b":"${"x".repeat(60)}"},"binaryData":{"c":"AAEC"},"immutable":true}`,
    );
    const spoilt = fc.tuple(fc.nat(text.length), fc.array(fc.tuple(fc.nat(text.length - 1), fc.nat(255))));
    fc.assert(
      fc.property(spoilt, ([length, changes]) => {
        const bytes = Buffer.from(text.subarray(0, length));
        for (const [at, value] of changes) if (at < length) bytes[at] = value;
        try {
          transcodeMessage(ConfigMap.type, { bytes, start: 0 });
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
      { numRuns: 3000 },
    );
    expect(transcoded(ConfigMap.type, text.toString())).toBe(ofTree(ConfigMap.type, text.toString()));
  });
});

function portsOf(...ports: readonly string[]): string {
  const containers = ports.map((port) => `{"name":"c","livenessProbe":{"httpGet":{"port":${port}}}}`);
  return `{"spec":{"containers":[${containers.join(",")}]}}`;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
