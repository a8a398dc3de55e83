import { BinaryReader } from "@bufbuild/protobuf/wire";
import { beforeAll, expect, test } from "vitest";
import { storeConfigMaps } from "../support/stored-config-maps.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { ListMeta } from "../../src/schema/object-meta.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { openEnvelope } from "../../src/schema/protobuf/envelope.ts";
import type { Api } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { namespace, ok, user } from "./support.ts";
import { chunksOf, createGrant, keysIn } from "./views-support.ts";

const binary = "application/vnd.platform.protobuf";
const path = "/api/v1/namespaces/many/configmaps";
const count = 900;
const nameOf = (index: number) => `m${String(index).padStart(3, "0")}`;
/** Sizes whose lengths have one, two and three bytes in the binary form. */
const sizeOf = (index: number) => (index % 100 === 0 ? 20_000 : index % 2 === 0 ? 700 : 0);
const isHidden = (index: number) => index % 5 === 0 || (index > 300 && index < 340) || index === count - 1;

const server = useServer({ users: [{ name: "ann" }, { name: "bob" }, { name: "carl" }, { name: "dora" }] });
beforeAll(async () => {
  await ok(server.admin.post("/api/v1/namespaces", namespace("many")));
  const indexes = Array.from({ length: count }, (_, index) => index);
  await storeConfigMaps(
    server,
    "many",
    indexes.map((index) => ({ name: nameOf(index), data: { text: "x".repeat(sizeOf(index)) } })),
  );
  const visible = indexes.filter((index) => !isHidden(index)).map(nameOf);
  const rule = { verbs: ["get"], apiGroups: [""], resources: ["configmaps"] };
  const grant = { namespace: "many", kind: "Role" } as const;
  await createGrant(server.admin, {
    ...grant,
    name: "most",
    rules: [{ ...rule, resourceNames: visible }],
    subject: user("ann"),
  });
  await createGrant(server.admin, {
    ...grant,
    name: "few",
    rules: [{ ...rule, resourceNames: visible.filter((_, at) => at % 9 === 0) }],
    subject: user("bob"),
  });
}, 120_000);

interface BinaryList {
  readonly items: ReadonlyMap<string, string>;
  readonly next: string;
}

/** The bytes of each item by its name, and the continue token. */
function readBinary(bytes: Buffer): BinaryList {
  const reader = new BinaryReader(openEnvelope(bytes).message);
  const items = new Map<string, string>();
  let next = "";
  while (reader.pos < reader.len) {
    const [number] = reader.tag();
    const field = reader.bytes();
    if (number === 1) next = (decodeMessage(ListMeta, field) as { continue?: string }).continue ?? "";
    else {
      const { metadata } = decodeMessage(ConfigMap.type, field) as { metadata: { name: string } };
      items.set(metadata.name, Buffer.from(field).toString("base64"));
    }
  }
  return { items, next };
}

/** All items of a binary list in chunks. */
async function binaryItems(api: Api, list: string): Promise<[string, string][]> {
  const items: [string, string][] = [];
  for (let token = ""; ;) {
    const at = token === "" ? list : `${list}&continue=${encodeURIComponent(token)}`;
    const { items: some, next } = readBinary((await ok(api.get(at, { accept: binary }))).bytes);
    items.push(...some);
    if ((token = next) === "") return items;
  }
}

test.each([0, 100, 250, 501])(
  "limit=%d: the items of a view have the bytes of those in the whole list, with cold and warm pages",
  { timeout: 60_000 },
  async (limit) => {
    const chunk = limit === 0 ? "" : `&limit=${limit}`;
    // A change drops the cached page of the object.
    await ok(server.admin.patch(`${path}/m450`, { metadata: { labels: { limit: String(limit) } } }));
    const views: [string, string][][] = [];
    const texts: string[][] = [];
    for (const name of ["ann", "bob", "ann", "bob"]) {
      views.push(await binaryItems(server.as(name), `${path}?view=mine${chunk}`));
      const chunks = await chunksOf(server.as(name), `${path}?view=mine${chunk}`);
      texts.push(chunks.flatMap(({ body }) => (body.items as object[]).map((item) => JSON.stringify(item))));
    }
    const whole = await binaryItems(server.admin, `${path}?`);
    const all = (await ok(server.admin.get(path))).body.items as { metadata: { name: string } }[];
    views.push(await binaryItems(server.as("ann"), `${path}?view=mine${chunk}`));
    const visible = Array.from({ length: count }, (_, index) => index).filter((index) => !isHidden(index));
    const names = new Set(visible.map((index) => nameOf(index)));
    const fewNames = new Set([...names].filter((_, at) => at % 9 === 0));
    for (const [round, items] of views.entries()) {
      const expected = round % 2 === 0 ? names : fewNames;
      expect(items).toEqual(whole.filter(([name]) => expected.has(name)));
    }
    for (const [round, items] of texts.entries()) {
      const expected = round % 2 === 0 ? names : fewNames;
      expect(items).toEqual(
        all.filter(({ metadata }) => expected.has(metadata.name)).map((item) => JSON.stringify(item)),
      );
    }
  },
);

test.each([
  ["carl", "Exact"],
  ["dora", "NotOlderThan"],
])(
  "a list with a view of %s that waits for a revision (%s) has the rights of that revision",
  async (name, match) => {
    const revision =
      Number((await ok(server.admin.get(`${path}?limit=1`))).body.metadata.resourceVersion) + 20;
    const query = `view=mine&resourceVersion=${revision}&resourceVersionMatch=${match}`;
    const waiting = server.as(name).get(`${path}?${query}`);
    // The list has read its first rights when a later request is answered.
    await ok(server.as(name).get(`${path}?view=mine`));
    await createGrant(server.admin, {
      namespace: "many",
      kind: "Role",
      name,
      rules: [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames: [nameOf(3)] }],
      subject: user(name),
    });
    for (let written = 0; written < revision;) {
      const labels = { metadata: { labels: { written: String(written) } } };
      const answer = await ok(server.admin.patch(`${path}/${nameOf(0)}`, labels));
      written = Number(answer.body.metadata.resourceVersion);
    }
    expect(keysIn(await ok(waiting))).toEqual([`many/${nameOf(3)}`]);
  },
);
