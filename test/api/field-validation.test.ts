import { beforeAll, describe, expect, test } from "vitest";
import { type Answer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { RBAC, causeFields, configMap, ok, podReader, roleKinds } from "./support.ts";

const path = "/api/v1/namespaces/default/configmaps";

const server = useServer();
beforeAll(async () => {
  await ok(server.admin.post(path, configMap("target")));
});

/** The same invalid object by transport. Each has an unknown field at two depths and one duplicate field. */
const json =
  '{"metadata":{"name":"target","colour":"red"},"data":{"a":"first"},"data":{"a":"last"},"size":3}';
const yaml = "metadata:\n  name: target\n  colour: red\ndata:\n  a: first\ndata:\n  a: last\nsize: 3\n";
const duplicate = 'duplicate field "data"';
const unknown = ['unknown field "size"', 'unknown field "metadata.colour"'];

type Send = (query: string) => Promise<Answer>;
const ways: [string, Send, boolean][] = [
  [
    "POST of JSON",
    (query) => server.admin.ask("POST", `${path}${query}`, { raw: json.replace("target", unique()) }),
    true,
  ],
  [
    "POST of YAML",
    (query) =>
      server.admin.ask("POST", `${path}${query}`, {
        raw: yaml.replace("target", unique()),
        contentType: "application/yaml",
      }),
    true,
  ],
  ["PUT of JSON", (query) => server.admin.ask("PUT", `${path}/target${query}`, { raw: json }), true],
  [
    "PUT of YAML",
    (query) =>
      server.admin.ask("PUT", `${path}/target${query}`, { raw: yaml, contentType: "application/yaml" }),
    true,
  ],
  ["merge patch", (query) => patch("merge", query, json), true],
  ["strategic merge patch", (query) => patch("strategic-merge", query, json), true],
  [
    "JSON patch",
    (query) =>
      patch(
        "json",
        query,
        '[{"op":"add","path":"/size","value":3},{"op":"add","path":"/metadata/colour","value":"red"}]',
      ),
    false,
  ],
];
let count = 0;
const unique = () => `made-${++count}`;
const patch = (kind: string, query: string, raw: string) =>
  server.admin.ask("PATCH", `${path}/target${query}`, { raw, contentType: `application/${kind}-patch+json` });

describe.each(ways)("C-4.8 %s", (_what, send, duplicates) => {
  const faults = duplicates ? [duplicate, ...unknown] : unknown;

  test("C-4.8-08 Strict answers 400 and lists every unknown and duplicate field", async () => {
    const before = (await server.admin.get(`${path}/target`)).text;
    const { status, body } = await send("?fieldValidation=Strict");
    expect([status, body.reason]).toEqual([400, "BadRequest"]);
    for (const fault of faults) expect(body.message).toContain(fault);
    expect((await server.admin.get(`${path}/target`)).text).toBe(before);
  });

  test("C-4.8-07 Warn succeeds with one Warning header for each field", async () => {
    const answer = await ok(send("?fieldValidation=Warn"));
    expect(answer.warnings.toSorted()).toEqual(faults.toSorted());
    expect(answer.text).not.toContain("colour");
  });

  test("C-4.8-06 Ignore drops the fields without a warning", async () => {
    const answer = await ok(send("?fieldValidation=Ignore"));
    expect(answer.warnings).toEqual([]);
    expect(answer.text).not.toContain("colour");
    if (duplicates) expect(answer.body.data.a).toBe("last");
  });

  test.each(["", "?fieldValidation="])(
    "C-4.3-07 C-4.8-03 the default (%j) drops the fields and warns",
    async (query) => {
      const answer = await ok(send(query));
      expect(answer.warnings).toHaveLength(faults.length);
      expect(answer.text).not.toContain("colour");
    },
  );

  test("C-4.3-06 an unknown value of fieldValidation is 422", async () => {
    const { status, body } = await send("?fieldValidation=Loose");
    expect([status, causeFields({ body } as Answer)]).toEqual([422, ["fieldValidation"]]);
  });
});

describe("C-4.8-01 C-7-01 a value of the wrong type is refused at every level", () => {
  test.each(["", "Ignore", "Warn", "Strict"])("fieldValidation=%j", async (level) => {
    const query = `?fieldValidation=${level}`;
    const wrong: unknown[] = [
      { metadata: { name: "w" }, data: "text" },
      { metadata: { name: "w" }, data: { a: 1 } },
      { metadata: { name: "w" }, data: ["a"] },
      { metadata: { name: 5 } },
      { metadata: "w" },
      { metadata: { name: "w" }, immutable: "yes" },
      { metadata: { name: "w", labels: { a: true } } },
      { metadata: { name: "w", generation: 1.5 } },
      { metadata: { name: "w" }, binaryData: { a: "not base64!" } },
      [],
      "text",
      5,
      null,
    ];
    for (const body of wrong) {
      const answer = await server.admin.post(`${path}${query}`, body);
      expect([answer.status, answer.body.reason], JSON.stringify(body)).toEqual([400, "BadRequest"]);
    }
    for (const raw of [
      "{",
      '{"a":}',
      "nonsense",
      '{"a":1}}',
      "\u0000",
      '{"a":"\u0001"}',
      '{"metadata":{"name":"w"},}',
    ]) {
      const answer = await server.admin.ask("POST", `${path}${query}`, { raw });
      expect([answer.status, answer.body.reason], raw).toEqual([400, "BadRequest"]);
    }
    expect((await server.admin.get(`${path}/w`)).status).toBe(404);
  });

  test("the error message has the path or the position of the value", async () => {
    const typed = await server.admin.post(`${RBAC}/clusterroles`, {
      metadata: { name: "w" },
      rules: [podReader, { verbs: "get" }],
    });
    expect(typed.body.message).toContain("rules[1].verbs: expected a list, got a string");
    const malformed = await server.admin.ask("POST", path, { raw: '{\n "metadata": nope\n}' });
    expect(malformed.body.message).toContain("line 2, column");
  });
});

test("C-4.8-02 a body without required fields is 422 with a cause for each field", async () => {
  const noVerbs = await server.admin.post(`${RBAC}/clusterroles`, {
    metadata: { name: "r" },
    rules: [{ apiGroups: [""], resources: ["pods"] }],
  });
  expect([noVerbs.status, causeFields(noVerbs)]).toEqual([422, ["rules[0].verbs"]]);
  const noSubject = await server.admin.post(roleKinds[3].list, {
    metadata: { name: "b" },
    subjects: [{}],
    roleRef: { kind: "Role" },
  });
  expect(noSubject.status).toBe(422);
  expect(causeFields(noSubject)).toEqual(
    expect.arrayContaining(["subjects[0].kind", "subjects[0].name", "roleRef.name"]),
  );
});

test.each(roleKinds)(
  "A-4.2-26 A-4.2-12 create, update and patch of a $kind support fieldValidation",
  async ({ list, make }) => {
    const faulty = { ...make("validated"), colour: "red" };
    expect((await server.admin.post(`${list}?fieldValidation=Strict`, faulty)).status).toBe(400);
    expect((await ok(server.admin.post(`${list}?fieldValidation=Warn`, faulty))).warnings).toHaveLength(1);
    expect((await server.admin.put(`${list}/validated?fieldValidation=Strict`, faulty)).status).toBe(400);
    const merge = { body: { colour: "red" }, contentType: "application/merge-patch+json" };
    expect((await server.admin.ask("PATCH", `${list}/validated?fieldValidation=Strict`, merge)).status).toBe(
      400,
    );
    expect(
      (await server.admin.ask("PATCH", `${list}/validated?fieldValidation=Ignore`, merge)).warnings,
    ).toEqual([]);
  },
);

test("the number of Warning headers is limited when there are many unknown fields", async () => {
  const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`unknown${i}`, i]));
  const { status, warnings } = await server.admin.post(path, { ...configMap("crowded"), ...fields });
  expect(status).toBe(201);
  expect(warnings.length).toBeLessThanOrEqual(101);
  expect(warnings.at(-1)).toMatch(/^\d+ more warnings are left out$/);
});
