import { beforeAll, describe, expect, test } from "vitest";
import type { Api } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { configMap, grant, ok, refTo, role, roleBinding, user } from "./support.ts";
import {
  creates,
  map,
  maps,
  remove,
  statusOf as statusIn,
  transact as send,
  withTransactions,
} from "./transactions-support.ts";

const server = useServer({ users: [{ name: "dev" }, { name: "reader" }], ...withTransactions });

const transact = (operations: readonly object[], api: Api = server.admin, query = "") =>
  send(api, operations, query);
const statusOf = (name: string) => statusIn(server, name);

beforeAll(async () => {
  const rules = [
    { verbs: ["create"], apiGroups: ["transactions.platform.io"], resources: ["transactions"] },
    { verbs: ["create", "get", "update"], apiGroups: [""], resources: ["configmaps"] },
  ];
  await grant(server.admin, "dev", rules);
});

describe("rights", () => {
  test("each operation is authorized as if it were sent alone", async () => {
    const dev = server.as("dev");
    await ok(transact(creates("by-dev"), dev));
    const refused = await transact([...creates("by-dev-2"), remove("by-dev")], dev);
    expect([refused.status, refused.body.reason]).toEqual([403, "Forbidden"]);
    expect(refused.body.message).toMatch(/^operation 2 .*User "dev" cannot delete resource "configmaps"/);
    expect(await statusOf("by-dev-2")).toBe(404);
    const apply = { verb: "apply", fieldManager: "dev", object: map("by-dev") };
    expect((await transact([apply], dev)).status).toBe(403);
    expect((await transact(creates("no"), server.as("reader"))).body.message).toContain(
      'cannot create resource "transactions"',
    );
  });

  test("an operation has the rights that its user had before the transaction, and can't grant more", async () => {
    const group = "rbac.authorization.platform.io";
    const rules = [{ verbs: ["create"], apiGroups: [group], resources: ["roles", "rolebindings"] }];
    await grant(server.admin, "reader", [
      ...rules,
      { verbs: ["create"], apiGroups: ["transactions.platform.io"], resources: ["transactions"] },
      { verbs: ["bind"], apiGroups: [group], resources: ["clusterroles"], resourceNames: ["edit"] },
    ]);
    const reader = server.as("reader");
    const inDefault = (object: { metadata: { name: string } }, kind: string) => ({
      verb: "create",
      object: {
        apiVersion: `${group}/v1`,
        ...object,
        kind,
        metadata: { ...object.metadata, namespace: "default" },
      },
    });
    const deleting = [{ verbs: ["delete"], apiGroups: [""], resources: ["configmaps"] }];
    const { status, body } = await transact([inDefault(role("deleters", deleting), "Role")], reader);
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining("attempting to grant RBAC permissions not currently held"),
    ]);
    // It may bind the role to itself, which then has an effect, but not on the rest of the transaction.
    const binding = inDefault(
      roleBinding("own-edit", refTo("ClusterRole", "edit"), [user("reader")]),
      "RoleBinding",
    );
    const refused = await transact([binding, ...creates("by-reader")], reader);
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringMatching(/^operation 2 /)]);
    await ok(transact([binding], reader));
    await ok(transact(creates("by-reader"), reader));
  });

  test("a path in a name can't reach another resource", async () => {
    for (const name of ["../secrets/x", "a/status", "a%2Fstatus", ".."]) {
      const { status, body } = await transact([remove(name)], server.as("dev"));
      expect([status, body.reason]).toEqual([
        expect.any(Number),
        expect.stringMatching(/^(BadRequest|Forbidden)$/),
      ]);
    }
  });
});

describe("memory", () => {
  test("results are limited in total, because every operation may answer with the same large object", async () => {
    await ok(server.admin.post(maps, map("large", { text: "x".repeat(1_000_000) })));
    const patch = {
      ...remove("large"),
      verb: "patch",
      patchType: "application/merge-patch+json",
      patch: { metadata: { labels: { a: "b" } } },
    };
    const { status, body } = await transact(Array.from({ length: 400 }, () => patch));
    expect([status, body.message]).toEqual([
      413,
      expect.stringMatching(/^operation 5 .*results are larger than 4194304 bytes/),
    ]);
    expect((await server.admin.get(`${maps}/large`)).body.metadata.labels).toBeUndefined();
  });
});

describe("bad input", () => {
  const refusals: readonly (readonly [string, readonly object[], number, string])[] = [
    ["no operation", [], 422, "at least one operation must be given"],
    [
      "an unknown verb",
      [{ verb: "replace", object: map("a") }],
      422,
      'spec.operations[0].verb: Unsupported value: "replace"',
    ],
    ["a create without an object", [{ verb: "create" }], 422, "spec.operations[0].object: Required value"],
    [
      "a patch without its type",
      [{ verb: "patch", apiVersion: "v1", kind: "ConfigMap", name: "a", patch: {} }],
      422,
      "spec.operations[0].patchType: Required value",
    ],
    [
      "a field of another verb",
      [remove("a", { force: true })],
      422,
      "spec.operations[0].force: Forbidden: may not be set for the verb delete",
    ],
    [
      "an unknown kind",
      [{ verb: "create", object: { ...map("a"), kind: "Map" } }],
      400,
      'operation 1 (create): this server has no kind "Map" in version "v1"',
    ],
    [
      "an object without a kind",
      [{ verb: "create", object: { metadata: { name: "a" } } }],
      400,
      "must name apiVersion and kind",
    ],
    [
      "a review",
      [
        {
          verb: "create",
          object: { apiVersion: "authorization.platform.io/v1", kind: "SubjectAccessReview" },
        },
      ],
      400,
      "are not stored and can't be part of a transaction",
    ],
    [
      "a transaction",
      [{ verb: "create", object: { apiVersion: "transactions.platform.io/v1alpha1", kind: "Transaction" } }],
      400,
      "are not stored and can't be part of a transaction",
    ],
    [
      "an eviction",
      [
        {
          verb: "create",
          subresource: "eviction",
          object: { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "default" } },
        },
      ],
      400,
      "pods/eviction is not a write of the object",
    ],
    [
      "no namespace",
      [{ verb: "create", object: { ...map("a"), metadata: { name: "a" } } }],
      400,
      "must name the namespace of configmaps",
    ],
    [
      "a create after a delete",
      [remove("twice"), ...creates("twice")],
      400,
      'an earlier operation deletes "twice": a transaction can\'t replace an object',
    ],
    [
      "a delete after a create",
      [...creates("new"), remove("new")],
      400,
      'an earlier operation creates "new": a transaction can\'t delete its own objects',
    ],
    [
      "the same object created twice",
      [...creates("double"), ...creates("double")],
      409,
      'configmaps "double" already exists',
    ],
    [
      "too many operations",
      creates(...Array.from({ length: 513 }, (_, n) => `many-${n}`)),
      422,
      "must have at most 512 items",
    ],
  ];
  test.each(refusals)("%s is refused", async (_, operations, code, message) => {
    if ((await statusOf("twice")) === 404) await ok(server.admin.post(maps, configMap("twice")));
    const { status, body } = await transact(operations);
    expect([status, body.message]).toEqual([code, expect.stringContaining(message)]);
  });
});
