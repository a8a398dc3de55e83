import { BinaryReader } from "@bufbuild/protobuf/wire";
import { expect, test } from "vitest";
import { discoveryTypes } from "../../src/schema/discovery-types.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { openEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { useServer } from "../support/use-server.ts";

const accept = "application/vnd.platform.protobuf";

const server = useServer({ enabledControllers: [] });

test.each(["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"])(
  "%s in the binary encoding equals the JSON document",
  async (path) => {
    const { status, headers, bytes } = await server.admin.get(path, { accept });
    expect([status, headers["content-type"]]).toEqual([200, accept]);
    const { kind, message } = openEnvelope(bytes);
    const plain = (await server.admin.get(path)).body;
    expect(kind).toBe(plain.kind);
    const found = decodeMessage(discoveryTypes[kind]!, message) as Record<string, unknown>;
    const resources = found["resources"] as Record<string, unknown>[] | undefined;
    for (const one of resources ?? []) {
      one["verbs"] = (one["verbs"] as { items: string[] }).items;
      // Missing strings are empty in this encoding.
      for (const name of ["group", "version", "storageVersionHash"]) if (one[name] === "") delete one[name];
    }
    expect(found).toEqual(withoutType(plain));
  },
);

function withoutType(document: Record<string, unknown>): unknown {
  const rest = { ...document };
  delete rest["kind"];
  delete rest["apiVersion"];
  return rest;
}

test("the field numbers of an APIResource match the reference", async () => {
  const { bytes } = await server.admin.get("/apis/apps/v1", { accept });
  const fieldsOf = (reader: BinaryReader): Map<number, Uint8Array | number> => {
    const fields = new Map<number, Uint8Array | number>();
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      fields.set(number, wireType === 2 ? reader.bytes() : reader.uint32());
    }
    return fields;
  };
  // The last APIResource.
  const list = fieldsOf(new BinaryReader(openEnvelope(bytes).message));
  const [groupVersion, last] = [list.get(1), list.get(2)];
  expect(Buffer.from(groupVersion as Uint8Array).toString()).toBe("apps/v1");
  const fields = fieldsOf(new BinaryReader(last as Uint8Array));
  const text = (number: number) => Buffer.from(fields.get(number) as Uint8Array).toString();
  expect([text(1), fields.get(2), text(3)]).toEqual(["statefulsets/status", 1, "StatefulSet"]);
  const verbs = new BinaryReader(fields.get(4) as Uint8Array);
  expect(verbs.tag()).toEqual([1, 2]);
  expect(verbs.string()).toBe("get");
});
