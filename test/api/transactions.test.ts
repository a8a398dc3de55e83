import { describe, expect, test } from "vitest";
import type { Answer, Api } from "../support/api.ts";
import { blockOf } from "../support/pages.ts";
import { useServer } from "../support/use-server.ts";
import { causeFields, configMap, namespace, ok } from "./support.ts";
import {
  creates,
  map,
  maps,
  remove,
  statusOf as statusIn,
  transact as send,
  transactionsPath,
  withTransactions,
} from "./transactions-support.ts";

const server = useServer({ users: [], ...withTransactions });

const transact = (operations: readonly object[], api: Api = server.admin, query = "") =>
  send(api, operations, query);
const statusOf = (name: string) => statusIn(server, name);

describe("a transaction", () => {
  test("takes effect as a whole at one resource version, which every result has", async () => {
    await ok(server.admin.post(maps, configMap("t-old")));
    await ok(server.admin.post(maps, configMap("t-gone")));
    const watch = await server.admin.watch(maps);
    const { status, body } = await transact([
      ...creates("t-a"),
      { verb: "update", object: map("t-old", { changed: "yes" }) },
      {
        verb: "patch",
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace: "default",
        name: "t-a",
        patchType: "application/merge-patch+json",
        patch: { data: { more: "1" } },
      },
      { verb: "apply", fieldManager: "tests", object: map("t-applied") },
      remove("t-gone"),
    ]);
    expect([status, body.kind, body.spec]).toEqual([201, "Transaction", undefined]);
    const { resourceVersion, results } = body.status;
    expect(results.map(({ code }: { code: number }) => code)).toEqual([201, 200, 200, 201, 200]);
    const written = results.slice(0, 4).map(({ object }: Answer["body"]) => object.metadata.resourceVersion);
    expect(written).toEqual([resourceVersion, resourceVersion, resourceVersion, resourceVersion]);
    expect(results[2].object.data).toEqual({ name: "t-a", more: "1" });
    expect(results[4].object).toMatchObject({ kind: "Status", status: "Success" });
    for (const name of ["t-a", "t-old", "t-applied"])
      expect((await server.admin.get(`${maps}/${name}`)).body.metadata.resourceVersion).toBe(resourceVersion);
    expect(await statusOf("t-gone")).toBe(404);
    const seen = new Map<string, string>();
    while (seen.size < 4) {
      const { type, object } = await watch.next();
      if (
        object.metadata.name?.startsWith("t-") !== true ||
        (type === "ADDED" && object.metadata.name === "t-old")
      )
        continue;
      if (type === "ADDED" && object.metadata.name === "t-gone") continue;
      expect(object.metadata.resourceVersion).toBe(resourceVersion);
      seen.set(object.metadata.name, type);
    }
    expect(Object.fromEntries(seen)).toEqual({
      "t-a": "ADDED",
      "t-old": "MODIFIED",
      "t-applied": "ADDED",
      "t-gone": "DELETED",
    });
    watch.close();
  });

  test("has no effect if an operation fails; the error is that of the operation, and names it", async () => {
    await ok(server.admin.post(maps, configMap("f-exists")));
    const before = (await server.admin.get(maps)).body.metadata.resourceVersion;
    const conflict = await transact([...creates("f-a"), ...creates("f-exists")]);
    expect([conflict.status, conflict.body.reason]).toEqual([409, "AlreadyExists"]);
    expect(conflict.body.message).toBe(
      'operation 2 (create configmaps "f-exists" in namespace "default"): configmaps "f-exists" already exists; nothing was written',
    );
    expect(conflict.body.details).toMatchObject({
      name: "f-exists",
      kind: "configmaps",
      causes: [{ field: "spec.operations[1]", message: 'configmaps "f-exists" already exists' }],
    });
    const invalid = await transact([
      ...creates("f-a"),
      { verb: "create", object: map("f-b", { "no good": "1" }) },
    ]);
    expect([invalid.status, causeFields(invalid)]).toEqual([422, ["spec.operations[1]", "data[no good]"]]);
    const stale = map("f-exists");
    const old = { ...stale, metadata: { ...stale.metadata, resourceVersion: "1" } };
    expect((await transact([...creates("f-a"), { verb: "update", object: old }])).body.reason).toBe(
      "Conflict",
    );
    expect((await transact([...creates("f-a"), remove("f-none")])).status).toBe(404);
    const required = { preconditions: { uid: "another" } };
    expect((await transact([...creates("f-a"), remove("f-exists", required)])).status).toBe(409);
    expect(await statusOf("f-a")).toBe(404);
    expect((await server.admin.get(maps)).body.metadata.resourceVersion).toBe(before);
  });

  test("each operation sees the ones before it: a namespace and what is in it, and its labels", async () => {
    const labels = { "pod-security.platform.io/enforce": "restricted" };
    const made = { ...namespace("tx-home"), metadata: { name: "tx-home", labels } };
    const pod = (securityContext: object) => ({
      verb: "create",
      object: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "web", namespace: "tx-home" },
        spec: {
          automountServiceAccountToken: false,
          containers: [{ name: "c", image: "i", securityContext }],
        },
      },
    });
    const account = {
      verb: "create",
      object: {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace: "tx-home" },
      },
    };
    const inside = { verb: "create", object: { ...map("a"), metadata: { name: "a", namespace: "tx-home" } } };
    const refused = await transact([{ verb: "create", object: made }, account, inside, pod({})]);
    expect(refused.body.message).toMatch(/^operation 4 .*violates PodSecurity "restricted:latest"/);
    expect((await server.admin.get("/api/v1/namespaces/tx-home")).status).toBe(404);
    await ok(transact([{ verb: "create", object: made }, inside]));
    expect((await server.admin.get("/api/v1/namespaces/tx-home/configmaps/a")).status).toBe(200);
    // Without the namespace before it.
    const elsewhere = {
      verb: "create",
      object: { ...map("a"), metadata: { name: "a", namespace: "tx-none" } },
    };
    expect((await transact([elsewhere])).body.message).toContain('namespaces "tx-none" not found');
  });

  test("writes custom objects, subresources and generated names", async () => {
    const definition = {
      apiVersion: "apiextensions.platform.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "tenants.acme.dev" },
      spec: {
        group: "acme.dev",
        names: { plural: "tenants", singular: "tenant", kind: "Tenant" },
        scope: "Cluster",
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: {
                  spec: { type: "object", properties: { size: { type: "integer", default: 3 } } },
                  status: { type: "object", properties: { phase: { type: "string" } } },
                },
              },
            },
          },
        ],
      },
    };
    await ok(server.admin.post("/apis/apiextensions.platform.io/v1/customresourcedefinitions", definition));
    const tenant = { apiVersion: "acme.dev/v1", kind: "Tenant", metadata: { name: "one" }, spec: {} };
    const answer = await ok(
      transact([
        { verb: "create", object: tenant },
        {
          verb: "patch",
          apiVersion: "acme.dev/v1",
          kind: "Tenant",
          name: "one",
          subresource: "status",
          patchType: "application/merge-patch+json",
          patch: { status: { phase: "Ready" } },
        },
        {
          verb: "create",
          object: { ...map("x"), metadata: { generateName: "made-", namespace: "default" } },
        },
      ]),
    );
    const [first, second, third] = answer.body.status.results;
    expect(first.object.spec).toEqual({ size: 3 });
    expect(second.object).toMatchObject({ spec: { size: 3 }, status: { phase: "Ready" } });
    expect(third.object.metadata.name).toMatch(/^made-/);
    const stored = (await server.admin.get("/apis/acme.dev/v1/tenants/one")).body;
    expect(stored).toEqual(second.object);
  });

  test("a dry run has the results, and writes nothing", async () => {
    const before = (await server.admin.get(maps)).body.metadata.resourceVersion;
    const { status, body } = await transact(
      [...creates("dry-a"), remove("dry-a-none")].slice(0, 1),
      server.admin,
      "?dryRun=All",
    );
    expect(status).toBe(201);
    expect(body.status.resourceVersion).toBeUndefined();
    expect(body.status.results[0].object).toMatchObject({
      metadata: { name: "dry-a" },
      data: { name: "dry-a" },
    });
    expect(body.status.results[0].object.metadata.resourceVersion).toBeUndefined();
    expect(await statusOf("dry-a")).toBe(404);
    expect((await server.admin.get(maps)).body.metadata.resourceVersion).toBe(before);
  });

  test("without a change takes no resource version", async () => {
    await ok(transact(creates("same")));
    const before = (await server.admin.get(maps)).body.metadata.resourceVersion;
    const { body } = await ok(transact([{ verb: "update", object: map("same") }]));
    expect(body.status.resourceVersion).toBeUndefined();
    expect((await server.admin.get(maps)).body.metadata.resourceVersion).toBe(before);
  });

  test("reports the warnings of each operation", async () => {
    const { body } = await ok(
      transact([...creates("warned-a"), { verb: "create", object: { ...map("warned-b"), colour: "red" } }]),
    );
    expect(body.status.results.map(({ warnings }: { warnings?: string[] }) => warnings)).toEqual([
      undefined,
      ['unknown field "colour"'],
    ]);
    const strict = {
      verb: "create",
      fieldValidation: "Strict",
      object: { ...map("warned-c"), colour: "red" },
    };
    expect((await transact([strict])).body.message).toContain(
      'strict decoding error: unknown field "colour"',
    );
  });
});

test("the request of the page takes effect", async () => {
  for (const name of ["settings", "blue"]) await ok(server.admin.post(maps, configMap(name)));
  const { body } = await ok(
    server.admin.post(transactionsPath, JSON.parse(blockOf("docs/transactions.md", "json request"))),
  );
  expect(body.status.results.map(({ code }: { code: number }) => code)).toEqual([201, 200, 200]);
  expect([await statusOf("green"), await statusOf("blue")]).toEqual([200, 404]);
});

describe("transactions and other writers", () => {
  test("of transactions that change the same objects at once each takes effect as a whole, or is a conflict", async () => {
    await ok(transact(creates("shared-a", "shared-b")));
    const patch = (name: string, n: number) => ({
      verb: "patch",
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: "default",
      name,
      patchType: "application/merge-patch+json",
      patch: { data: { [`n-${n}`]: "1", last: String(n) } },
    });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => transact([patch("shared-a", n), patch("shared-b", n)])),
    );
    const taken = answers.flatMap(({ status }, n) => (status === 201 ? [n] : []));
    for (const { status } of answers) expect([201, 409]).toContain(status);
    expect(taken.length).toBeGreaterThan(0);
    const [a, b] = await Promise.all(
      ["shared-a", "shared-b"].map((name) => server.admin.get(`${maps}/${name}`)),
    );
    expect(a!.body.metadata.resourceVersion).toBe(b!.body.metadata.resourceVersion);
    expect(a!.body.data.last).toBe(b!.body.data.last);
    for (const n of taken) expect([a!.body.data[`n-${n}`], b!.body.data[`n-${n}`]]).toEqual(["1", "1"]);
  });

  test("lists never show half of a transaction", async () => {
    await ok(
      transact([
        { verb: "create", object: map("pair-a", { n: "0" }) },
        { verb: "create", object: map("pair-b", { n: "0" }) },
      ]),
    );
    let isOver = false;
    const readers = Array.from({ length: 4 }, async () => {
      let lists = 0;
      while (!isOver) {
        const { items } = (await server.admin.get(`${maps}?fieldSelector=metadata.name!=other`)).body as {
          items: { metadata: { name: string }; data: { n: string } }[];
        };
        const values = items
          .filter(({ metadata }) => metadata.name.startsWith("pair-"))
          .map(({ data }) => data.n);
        expect(new Set(values).size).toBe(1);
        lists++;
      }
      return lists;
    });
    for (let n = 1; n <= 30; n++) {
      const update = (name: string) => ({ verb: "update", object: map(name, { n: String(n) }) });
      await ok(transact([update("pair-a"), update("pair-b")]));
    }
    isOver = true;
    for (const lists of await Promise.all(readers)) expect(lists).toBeGreaterThan(0);
  });
});
