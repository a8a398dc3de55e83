import { beforeAll, describe, expect, test } from "vitest";
import { type Answer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { definitions, group, served, definition, version } from "./support.ts";

/** An integer that no double represents exactly, and the adjacent one. */
const long = "9007199254740993";
const longer = "9007199254740995";

/** The JSON text of a definition's schema: `JSON.stringify` can't write such integers. */
const schema = `{"type":"object","properties":{"spec":{
  "type":"object",
  "x-platform-validations":[{"rule":"!has(self.ruled) || self.ruled > ${long}"}],
  "properties":{
    "size":{"type":"integer","format":"int64","default":${long}},
    "closed":{"type":"integer","enum":[1,${long}]},
    "bounded":{"type":"integer","minimum":-${long},"maximum":9223372036854775000},
    "exact":{"type":"integer","maximum":${long}},
    "stepped":{"type":"integer","multipleOf":${long}},
    "text":{"type":"string","maxLength":9223372036854775807},
    "ruled":{"type":"integer"},
    "free":{"type":"object","x-platform-preserve-unknown-fields":true},
    "items":{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["id"],
      "items":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"value":{"type":"string"}}}},
    "set":{"type":"array","x-platform-list-type":"set","items":{"type":"integer"}}}}}}`;

const columns = [
  { name: "Size", type: "integer", jsonPath: ".spec.size" },
  { name: "Text", type: "string", jsonPath: ".spec.size" },
  { name: "Chosen", type: "string", jsonPath: `.spec.items[?(@.id>${long})].value` },
];

const text = "application/json";
const binary = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

let path: string;
const server = useServer({ enabledControllers: [] });
beforeAll(async () => {
  const marked = definition({
    versions: [version("v1", { schema: { openAPIV3Schema: "schema" }, additionalPrinterColumns: columns })],
  });
  const raw = JSON.stringify(marked).replace('"schema"}', `${schema.replaceAll(/\s/g, "")}}`);
  const made = await server.admin.ask("POST", definitions, { raw, contentType: text });
  expect([made.status, made.text.includes(`"default":${long}`)]).toEqual([201, true]);
  path = await served(server.admin, definition({}, "others", "Other")).then(
    () => `/apis/${group}/v1/namespaces/default/orders`,
  );
});

const body = (name: string, spec: string): string =>
  `{"apiVersion":"${group}/v1","kind":"Order","metadata":{"name":"${name}"},"spec":${spec}}`;
const create = (name: string, spec: string): Promise<Answer> =>
  server.admin.ask("POST", path, { raw: body(name, spec), contentType: text });
const patch = (name: string, raw: string, kind: string): Promise<Answer> =>
  server.admin.ask("PATCH", `${path}/${name}`, { raw, contentType: `application/${kind}-patch+json` });
const causesOf = ({ status, body: { details } }: Answer): unknown[] => [
  status,
  ...(details?.causes ?? []).map(({ field }: { field: string }) => field),
];

describe("integers beyond 2^53 are exact in custom resources", () => {
  test("a definition with them is in OpenAPI v2 and v3, together with all other kinds", async () => {
    const v2 = await server.admin.get("/openapi/v2");
    const v3 = await server.admin.get(`/openapi/v3/apis/${group}/v1`);
    for (const { status, text: shown } of [v2, v3]) {
      expect([status, shown.includes(`"enum":[1,${long}]`)]).toEqual([200, true]);
      expect(shown).toContain('"maximum":9223372036854775000');
      expect(shown).toContain("com.example.shop.v1.Other");
    }
    expect(v3.text).toContain(`"default":${long}`);
    const { status, bytes } = await server.admin.get("/openapi/v2", { accept: binary });
    expect([status, bytes.includes(`${long}\n`)]).toEqual([200, true]);
  });

  test("a default and a value are stored and returned exactly in JSON, YAML and a watch", async () => {
    const made = await create("stored", `{"free":{"deep":[${longer},-${long}]}}`);
    const expected = `"free":{"deep":[${longer},-${long}]}`;
    const { body: list } = await server.admin.get(path);
    const watch = await server.admin.watch(
      `${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`,
    );
    for (const shown of [
      made.text,
      (await server.admin.get(path)).text,
      (await server.admin.get(`${path}/stored`)).text,
    ]) {
      expect(shown).toContain(expected);
      expect(shown).toContain(`"size":${long}`);
    }
    const yaml = await server.admin.get(`${path}/stored`, { accept: "application/yaml" });
    expect(yaml.text).toContain(`size: ${long}`);
    const replaced = await server.admin.ask("PUT", `${path}/stored`, {
      raw: yaml.text.replace(`size: ${long}`, `size: ${longer}`),
      contentType: "application/yaml",
    });
    expect(replaced.text).toContain(`"size":${longer}`);
    expect((await watch.next()).type).toBe("MODIFIED");
    watch.close();
  });

  test("bounds, enums, multiples and rules are exact for adjacent values", async () => {
    const tries: [spec: string, ...expected: unknown[]][] = [
      [`{"closed":${long}}`, 201],
      [`{"closed":${longer}}`, 422, "spec.closed"],
      [`{"bounded":9223372036854775000}`, 201],
      [`{"bounded":9223372036854775001}`, 422, "spec.bounded"],
      [`{"bounded":-${longer}}`, 422, "spec.bounded"],
      [`{"exact":${long}}`, 201],
      [`{"exact":9007199254740994}`, 422, "spec.exact"],
      [`{"stepped":18014398509481986}`, 201],
      [`{"stepped":18014398509481988}`, 422, "spec.stepped"],
      [`{"ruled":${longer}}`, 201],
      [`{"ruled":${long}}`, 422, "spec"],
      [`{"set":[${long},9007199254740994]}`, 201],
      [`{"set":[${long},${long}]}`, 422, "spec.set[1]"],
    ];
    for (const [spec, ...expected] of tries) {
      const answer = await server.admin.ask("POST", `${path}?dryRun=All`, {
        raw: body("tried", spec),
        contentType: text,
      });
      expect([spec, ...causesOf(answer)]).toEqual([spec, ...expected]);
    }
  });

  test("a table has the exact value in its column", async () => {
    await create("tabled", `{"items":[{"id":${long},"value":"no"},{"id":9007199254740994,"value":"yes"}]}`);
    const accept = "application/json;as=Table;v=v1;g=meta.platform.io";
    const { text: one } = await server.admin.get(`${path}/tabled`, { accept });
    expect(one).toContain(`"cells":["tabled",${long},"${long}","yes"]`);
    const { text: all } = await server.admin.get(path, { accept });
    expect(all).toContain(`"cells":["tabled",${long},"${long}","yes"]`);
  });

  test("patches compare and keep them, and apply tracks the ownership of list items with them", async () => {
    await create("patched", `{"size":${longer}}`);
    const tested = `[{"op":"test","path":"/spec/size","value":${longer}},{"op":"add","path":"/spec/ruled","value":${longer}}]`;
    expect((await patch("patched", tested, "json")).text).toContain(`"ruled":${longer}`);
    expect((await patch("patched", tested.replace(longer, long), "json")).status).toBe(422);
    expect((await patch("patched", `{"spec":{"exact":${long}}}`, "merge")).text).toContain(`"exact":${long}`);
    const apply = (manager: string, spec: string): Promise<Answer> =>
      server.admin.ask("PATCH", `${path}/applied?fieldManager=${manager}`, {
        raw: body("applied", spec),
        contentType: "application/apply-patch+yaml",
      });
    const items = (id: string, value: string): string =>
      `{"items":[{"id":${id},"value":"${value}"}],"set":[${id}]}`;
    expect((await apply("a", items(long, "1"))).text).toContain(String.raw`"k:{\"id\":${long}}"`);
    expect((await apply("b", items("9007199254740992", "2"))).status).toBe(200);
    const conflict = await apply("b", items(long, "2"));
    expect([conflict.status, conflict.body.details.causes[0].field]).toEqual([
      409,
      `.spec.items[id=${long}].value`,
    ]);
    expect((await apply("b", items(long, "1"))).text).toContain(`{"id":${long},"value":"1"}`);
  });

  test("a built-in kind accepts them in a 64-bit field in JSON and binary", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    await server.admin.post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
    const raw = `{"metadata":{"name":"long"},"spec":{"nodeName":"n","containers":[{"name":"a","image":"a"}],"terminationGracePeriodSeconds":9223372036854775807,
      "tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":${long}}]}}`;
    const made = await server.admin.ask("POST", pods, { raw, contentType: text });
    expect(made.text).toContain(`"tolerationSeconds":${long}`);
    const protobuf = "application/vnd.platform.protobuf";
    const { bytes } = await server.admin.get(`${pods}/long`, { accept: protobuf });
    const put = await server.admin.ask("PUT", `${pods}/long`, { raw: bytes, contentType: protobuf });
    expect([put.status, put.text.includes(`"tolerationSeconds":${long}`)]).toEqual([200, true]);
    const over = await server.admin.ask("POST", pods, {
      raw: raw.replace(long, "9223372036854775808"),
      contentType: text,
    });
    expect(over.status).toBe(400);
    await server.admin.patch(
      `${pods}/long`,
      [{ op: "add", path: "/metadata/finalizers", value: ["a.example/b"] }],
      "json",
    );
    expect((await server.admin.delete(`${pods}/long?gracePeriodSeconds=9223372036854775807`)).status).toBe(
      200,
    );
  });
});
