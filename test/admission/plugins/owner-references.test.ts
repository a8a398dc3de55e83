import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok, RBAC, startWithUsers } from "../../api/support.ts";
import type { Api, TestServer } from "../../support/api.ts";
import { rejected } from "./support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

describe("OwnerReferencesPermissionEnforcement", () => {
  let server: TestServer;
  let writer: Api;
  let remover: Api;
  let blocker: Api;
  let owner: { uid: string };
  const reference = (more: object = {}) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name: "owner",
    uid: owner.uid,
    ...more,
  });
  const owned = (ownerReferences: object[]) => ({ metadata: { ownerReferences } });

  beforeAll(async () => {
    server = await startWithUsers([{ name: "writer" }, { name: "remover" }, { name: "blocker" }], {
      enabledAdmissionPlugins: ["OwnerReferencesPermissionEnforcement"],
      // Owners that don't exist would have their dependents collected.
      enabledControllers: ["*", "-garbagecollector", "-root-ca-cert-publisher"],
    });
    writer = server.as("writer");
    remover = server.as("remover");
    blocker = server.as("blocker");
    const roles = `${RBAC}/namespaces/default`;
    const grant = async (user: string, verbs: string[]) => {
      const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs }];
      await ok(server.admin.post(`${roles}/roles`, { metadata: { name: user }, rules }));
      await ok(
        server.admin.post(`${roles}/rolebindings`, {
          metadata: { name: user },
          roleRef: { apiGroup: "rbac.authorization.platform.io", kind: "Role", name: user },
          subjects: [{ kind: "User", name: user, apiGroup: "rbac.authorization.platform.io" }],
        }),
      );
    };
    await grant("writer", ["get", "create", "update", "patch"]);
    await grant("remover", ["get", "create", "update", "patch", "delete"]);
    await grant("blocker", ["get", "create", "update", "patch", "delete"]);
    owner = (await ok(server.admin.post(MAPS, { metadata: { name: "owner" } }))).body.metadata;
    for (const name of ["a", "b", "c"]) await ok(server.admin.post(MAPS, { metadata: { name } }));
  });
  afterAll(() => server.close());

  test("C-4.13-83 changing the owners of an object without the verb delete on it returns 403", async () => {
    await rejected(
      writer.patch(`${MAPS}/a`, owned([reference()])),
      "cannot set an ownerRef on a resource you can't delete",
    );
    await ok(remover.patch(`${MAPS}/a`, owned([reference()])));
    // An update that keeps the owners, and a create, don't need the verb delete.
    await ok(writer.patch(`${MAPS}/a`, { data: { k: "v" } }));
    await ok(writer.post(MAPS, { metadata: { name: "made", ownerReferences: [reference()] } }));
    await rejected(writer.patch(`${MAPS}/a`, owned([])), "you can't delete");
  });

  test("C-4.13-84 setting blockOwnerDeletion without the verb update on the owner's finalizers returns 403", async () => {
    const blocking = owned([reference({ blockOwnerDeletion: true })]);
    const why =
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
    await rejected(remover.patch(`${MAPS}/b`, blocking), why);
    await rejected(writer.post(MAPS, { ...blocking, metadata: { name: "new", ...blocking.metadata } }), why);
    const role = `${RBAC}/namespaces/default/roles/remover`;
    const { body } = await ok(server.admin.get(role));
    const rules = [
      ...body.rules,
      { apiGroups: [""], resources: ["configmaps/finalizers"], verbs: ["update"] },
    ];
    await ok(server.admin.put(role, { ...body, rules }));
    await ok(remover.patch(`${MAPS}/b`, blocking));
  });

  test("C-4.13-84 only an update that sets blockOwnerDeletion to true requires the verb update on the owner's finalizers", async () => {
    const why =
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
    const blocking = (...values: (boolean | undefined)[]) =>
      owned(values.map((blockOwnerDeletion, index) => reference({ uid: `${index}`, blockOwnerDeletion })));
    await ok(blocker.patch(`${MAPS}/c`, blocking(undefined, false)));
    await rejected(blocker.patch(`${MAPS}/c`, blocking(true, false)), why);
    await rejected(blocker.patch(`${MAPS}/c`, blocking(undefined, true)), why);
    // After the administrator sets it, another user can keep it and set it to false.
    await ok(server.admin.patch(`${MAPS}/c`, blocking(true, false)));
    await ok(blocker.patch(`${MAPS}/c`, blocking(true)));
    await ok(blocker.patch(`${MAPS}/c`, blocking(false)));
    await rejected(blocker.patch(`${MAPS}/c`, blocking(true)), why);
  });

  test("blockOwnerDeletion returns 403 when the kind of the owner is not served", async () => {
    const unknown = {
      apiVersion: "example.com/v1",
      kind: "Thing",
      name: "x",
      uid: "u",
      blockOwnerDeletion: true,
    };
    await rejected(
      remover.patch(`${MAPS}/a`, owned([unknown])),
      "cannot find RESTMapping for APIVersion example.com/v1",
    );
  });
});

test("C-4.13-82 OwnerReferencesPermissionEnforcement is off by default", async () => {
  const server = await startWithUsers([{ name: "writer" }], { controllers: [] });
  try {
    const { uid } = (await ok(server.admin.post(MAPS, { metadata: { name: "owner" } }))).body.metadata;
    await ok(server.admin.post(MAPS, { metadata: { name: "a" } }));
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["patch"] }];
    await ok(server.admin.post(`${RBAC}/namespaces/default/roles`, { metadata: { name: "w" }, rules }));
    await ok(
      server.admin.post(`${RBAC}/namespaces/default/rolebindings`, {
        metadata: { name: "w" },
        roleRef: { apiGroup: "rbac.authorization.platform.io", kind: "Role", name: "w" },
        subjects: [{ kind: "User", name: "writer", apiGroup: "rbac.authorization.platform.io" }],
      }),
    );
    const ownerReferences = [
      { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true },
    ];
    const { status } = await server.as("writer").patch(`${MAPS}/a`, { metadata: { ownerReferences } });
    expect(status).toBe(200);
  } finally {
    await server.close();
  }
});
