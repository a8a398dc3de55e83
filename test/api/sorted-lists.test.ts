import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { Dice } from "../support/dice.ts";
import { ManualClock, configMap, grant, namespace, namesIn, ok } from "./support.ts";
import { chunksOf, createGrant, keysIn } from "./views-support.ts";

const clock = new ManualClock();
const server = useServer({ users: [{ name: "ann" }], clock });
const all = "/api/v1/configmaps";
const path = (space: string) => `/api/v1/namespaces/${space}/configmaps`;

interface Made {
  readonly key: string;
  readonly name: string;
  readonly created: string;
  readonly labels: Readonly<Record<string, string>>;
}
const made: Made[] = [];
/** Only the objects of this test. */
const ours = "labelSelector=sorted";
const spaces = ["s-a", "s-b"];

beforeAll(async () => {
  const dice = new Dice(7);
  for (const space of spaces) await ok(server.admin.post("/api/v1/namespaces", namespace(space)));
  for (let index = 0; index < 60; index++) {
    const space = dice.pick(spaces);
    const name = `${dice.pick(["web", "db", "cache"])}-${dice.below(1000)}-${index}`;
    const labels: Record<string, string> = { sorted: "", tier: dice.pick(["Front", "back"]) };
    const { body } = await ok(server.admin.post(path(space), configMap(name, {}, { labels })));
    made.push({ key: `${space}/${name}`, name, created: body.metadata.creationTimestamp, labels });
    if (dice.chance(0.5)) await clock.advance(1000);
  }
});

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
/** The keys of the objects in the order of a value, then of the key. */
const inOrder = (value: (one: Made) => string, descending = false) =>
  made
    .toSorted((a, b) => compare(value(a), value(b)) * (descending ? -1 : 1) || compare(a.key, b.key))
    .map(({ key }) => key);

describe("sort", () => {
  const created = ({ created: time }: Made) => time;
  const name = ({ name: of }: Made) => of;
  test.each([
    ["metadata.creationTimestamp", inOrder, created, false],
    ["-metadata.creationTimestamp", inOrder, created, true],
    ["metadata.name", inOrder, name, false],
    ["-metadata.name", inOrder, name, true],
    ["-metadata.namespace", inOrder, ({ key }: Made) => key.split("/")[0]!, true],
  ])("%s orders the list, whole and in chunks of any size", async (sort, order, value, descending) => {
    const expected = order(value, descending);
    expect(keysIn(await ok(server.admin.get(`${all}?${ours}&sort=${sort}`)))).toEqual(expected);
    for (const limit of [1, 7, 59, 60, 61]) {
      const chunks = await chunksOf(server.admin, `${all}?${ours}&sort=${sort}&limit=${limit}`);
      expect(chunks.flatMap(keysIn)).toEqual(expected);
      expect(chunks).toHaveLength(Math.ceil(60 / limit));
      expect(new Set(chunks.map(({ body }) => body.metadata.resourceVersion)).size).toBe(1);
    }
  });

  test("has the remaining count of a whole collection, and the objects of one revision", async () => {
    const first = await ok(server.admin.get(`${path("s-a")}?sort=-metadata.name&limit=5`));
    const { remainingItemCount, continue: token } = first.body.metadata;
    expect(remainingItemCount).toBe(made.filter(({ key }) => key.startsWith("s-a/")).length - 5);
    await ok(server.admin.post(path("s-a"), configMap("added-later")));
    const next = await ok(
      server.admin.get(`${path("s-a")}?sort=-metadata.name&continue=${encodeURIComponent(token)}`),
    );
    expect(namesIn(first).length + namesIn(next).length).toBe(5 + remainingItemCount);
    expect(namesIn(next)).not.toContain("added-later");
    await ok(server.admin.delete(`${path("s-a")}/added-later`));
  });

  test("by a selectable field compares integers by their size", async () => {
    const sets = "/apis/apps/v1/namespaces/s-a/replicasets";
    for (const replicas of [10, 9, 100]) {
      const template = {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "c", image: "i" }] },
      };
      const spec = { selector: { matchLabels: { a: "b" } }, template };
      await ok(server.admin.post(sets, { metadata: { name: `r${replicas}` }, spec }));
      const { body } = await ok(server.admin.get(`${sets}/r${replicas}/status`));
      await ok(server.admin.put(`${sets}/r${replicas}/status`, { ...body, status: { replicas } }));
    }
    expect(namesIn(await ok(server.admin.get(`${sets}?sort=status.replicas`)))).toEqual([
      "r9",
      "r10",
      "r100",
    ]);
    expect(namesIn(await ok(server.admin.get(`${sets}?sort=-status.replicas&limit=2`)))).toEqual([
      "r100",
      "r10",
    ]);
  });

  test("works in tables, in the binary form and with view=mine", async () => {
    const expected = inOrder(created, true);
    const accept = "application/json;as=Table;v=v1;g=meta.platform.io";
    const table = await ok(server.admin.get(`${all}?${ours}&sort=-metadata.creationTimestamp`, { accept }));
    const keys = table.body.rows.map(
      ({ object }: { object: { metadata: { namespace: string; name: string } } }) =>
        `${object.metadata.namespace}/${object.metadata.name}`,
    );
    expect(keys).toEqual(expected);
    const binary = await ok(
      server.admin.get(`${all}?${ours}&sort=-metadata.creationTimestamp`, {
        accept: "application/vnd.platform.protobuf",
      }),
    );
    const at = expected.map((key) => binary.bytes.indexOf(key.split("/")[1]!));
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    await createGrant(server.admin, {
      name: "reads-b",
      namespace: "s-b",
      kind: "Role",
      rules: [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"] }],
      subject: { kind: "User", apiGroup: "rbac.authorization.platform.io", name: "ann" },
    });
    const mine = `${all}?${ours}&view=mine&sort=-metadata.creationTimestamp`;
    const visible = expected.filter((key) => key.startsWith("s-b/"));
    expect(keysIn(await ok(server.as("ann").get(mine)))).toEqual(visible);
    const chunks = await chunksOf(server.as("ann"), `${mine}&limit=4`);
    expect(chunks.flatMap(keysIn)).toEqual(visible);
    expect(chunks.at(-1)!.body.items.length).toBeGreaterThan(0);
    const { body } = chunks[0]!;
    const foreign = `${all}?${ours}&sort=-metadata.creationTimestamp&continue=${body.metadata.continue}`;
    expect((await server.admin.get(foreign)).status).toBe(400);
  });

  test("another field, or a token of another order, is BadRequest and names the parameter", async () => {
    const wrong = await server.admin.get(`${all}?sort=spec.x`);
    expect([wrong.status, wrong.body.message]).toEqual([
      400,
      expect.stringContaining(
        'parameter sort: "spec.x" is not supported; allowed are metadata.name, metadata.namespace',
      ),
    ]);
    expect((await server.admin.get("/api/v1/namespaces?sort=metadata.namespace")).status).toBe(400);
    const token = (await ok(server.admin.get(`${all}?sort=-metadata.name&limit=1`))).body.metadata.continue;
    for (const sort of ["", "&sort=metadata.creationTimestamp"]) {
      const answer = await server.admin.get(`${all}?limit=1&continue=${token}${sort}`);
      expect([answer.status, answer.body.message]).toEqual([
        400,
        expect.stringContaining("parameter continue"),
      ]);
    }
    const plain = (await ok(server.admin.get(`${all}?limit=1`))).body.metadata.continue;
    expect((await server.admin.get(`${all}?limit=1&continue=${plain}&sort=-metadata.name`)).status).toBe(400);
    const inKeyOrder = await ok(server.admin.get(`${path("s-a")}?sort=metadata.name&limit=1`));
    expect(
      (await ok(server.admin.get(`${path("s-a")}?continue=${inKeyOrder.body.metadata.continue}`))).status,
    ).toBe(200);
  });
});

describe("search", () => {
  const found = async (text: string, more = "") =>
    keysIn(await ok(server.admin.get(`${all}?${ours}&search=${encodeURIComponent(text)}${more}`)));
  const having = (holds: (one: Made) => boolean) =>
    made
      .filter(holds)
      .map(({ key }) => key)
      .toSorted(compare);

  test("finds a text in names and labels, in upper or lower case", async () => {
    expect(await found("WEB-")).toEqual(having(({ name }) => name.startsWith("web-")));
    expect(await found("tier=f")).toEqual(having(({ labels }) => labels["tier"] === "Front"));
    expect(await found("TIER")).toHaveLength(60);
    expect(await found("no such text")).toEqual([]);
    expect(await found("")).toHaveLength(60);
  });

  test("works with chunks, sort and other selectors", async () => {
    const expected = having(({ name, labels }) => name.includes("db") && labels["tier"] === "back");
    const query = `labelSelector=sorted,tier%3Dback&search=db`;
    expect((await chunksOf(server.admin, `${all}?${query}&limit=2`)).flatMap(keysIn)).toEqual(expected);
    const sorted = await chunksOf(server.admin, `${all}?${query}&limit=2&sort=-metadata.name`);
    expect(sorted.flatMap(keysIn).toSorted(compare)).toEqual(expected);
  });

  test("is BadRequest if it is too long, and on a watch or a deletion of a collection, as sort is", async () => {
    expect((await server.admin.get(`${all}?search=${"x".repeat(513)}`)).status).toBe(400);
    await grant(server.admin, "ann", [{ verbs: ["*"], apiGroups: [""], resources: ["configmaps"] }]);
    for (const parameter of ["search=web", "sort=metadata.name"]) {
      const [name] = parameter.split("=");
      const message = expect.stringContaining(`parameter ${name}`);
      const watch = await server.admin.refusal("GET", `${all}?watch=true&${parameter}`);
      expect([watch.status, watch.body.message]).toEqual([400, message]);
      const deletion = await server.admin.refusal("DELETE", `${path("s-a")}?${parameter}`);
      expect([deletion.status, deletion.body.message]).toEqual([400, message]);
    }
    expect(keysIn(await ok(server.admin.get(`${all}?${ours}`)))).toHaveLength(60);
  });
});

test("clients detect the parameters in /openapi/extensions and OpenAPI", async () => {
  const { body } = await ok(server.admin.get("/openapi/extensions"));
  expect([body.listParameters, body.subscriptions]).toEqual([
    ["search", "sort"],
    ["application/json", "text/event-stream"],
  ]);
  const document = (await ok(server.admin.get("/openapi/v3/api/v1"))).body;
  const names = document.paths["/api/v1/configmaps"].get.parameters.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(["search", "sort", "view"]));
  expect(
    (await ok(server.admin.get("/openapi/v3/subscriptions"))).body.paths["/subscriptions"].post.requestBody
      .required,
  ).toBe(true);
  expect(
    (await ok(server.admin.get("/openapi/v2"))).body.paths["/subscriptions"].get.parameters[0].name,
  ).toBe("watch");
  expect((await ok(server.admin.get("/openapi/v3"))).body.paths.subscriptions).toBeDefined();
});
