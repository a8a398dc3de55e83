import { expect, test } from "vitest";
import { useServer } from "../../support/use-server.ts";
import { RBAC } from "../support.ts";

const server = useServer();
const below = "/api/v1/namespaces/default";
const selector = { matchLabels: { a: "b" } };
const podTemplate = {
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "c", image: "i" }] },
};

const apply = (path: string, object: object) =>
  server.admin.ask("PATCH", `${path}?fieldManager=m&force=true`, {
    body: object,
    contentType: "application/apply-patch+yaml",
  });

test.each([
  ["v1", "ConfigMap", `${below}/configmaps`, {}],
  ["v1", "Service", `${below}/services`, { spec: { ports: [{ port: 80 }] } }],
  [
    "apps/v1",
    "Deployment",
    "/apis/apps/v1/namespaces/default/deployments",
    { spec: { selector, template: podTemplate } },
  ],
  ["rbac.authorization.platform.io/v1", "ClusterRole", `${RBAC}/clusterroles`, { rules: [] }],
])("an apply that creates a %s %s ignores metadata.resourceVersion", async (apiVersion, kind, list, rest) => {
  for (const resourceVersion of ["1", "not a number"]) {
    const metadata = { name: `v${resourceVersion.length}`, resourceVersion };
    const { status, body } = await apply(`${list}/${metadata.name}`, {
      apiVersion,
      kind,
      metadata,
      ...rest,
    });
    expect([status, body.message]).toEqual([201, undefined]);
    expect(body.metadata.resourceVersion).toMatch(/^\d+$/);
    expect(body.metadata.resourceVersion).not.toBe(resourceVersion);
  }
});

test("an apply to an existing object conflicts unless the version matches", async () => {
  const object = (resourceVersion: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "there", resourceVersion },
    data: { version: resourceVersion },
  });
  const path = `${below}/configmaps/there`;
  const created = await apply(path, object("1"));
  expect(created.status).toBe(201);
  expect((await apply(path, object("1"))).status).toBe(409);
  expect((await apply(path, object(created.body.metadata.resourceVersion))).status).toBe(200);
});

test("an apply that creates conflicts with a uid", async () => {
  const metadata = { name: "absent", uid: "6ba7b810-9dad-11d1-80b4-00c04fd430c8" };
  const answer = await apply(`${below}/configmaps/absent`, { apiVersion: "v1", kind: "ConfigMap", metadata });
  expect(answer.status).toBe(409);
});
