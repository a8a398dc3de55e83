// Tests of RBAC rules with Jest, in CommonJS: who may do what, without a request being made.
const path = require("node:path");
const { createServer } = require("plinth");

let server;
beforeAll(async () => {
  server = await createServer({ vocabulary: "kubernetes", port: false });
  await server.load(path.join(__dirname, "../manifests"));
});
afterAll(() => server.close());

const editor = () => server.as("devi", ["shop-editors"]);
const operator = () => server.as("site-operator");

test.each([
  ["update", "sites", "shop", true],
  ["get", "configmaps", "shop", true],
  ["update", "configmaps", "shop", false],
  ["get", "secrets", "shop", false],
  ["get", "sites", "default", false],
])("an editor: %s %s in %s is %s", async (verb, resource, namespace, expected) => {
  const { allowed, text } = await editor().why(verb, resource, { namespace });
  // The explanation names the binding and the rule, or what comes close.
  if (allowed !== expected) throw new Error(text);
});

test("the operator can write pages in every namespace, and nothing else", async () => {
  expect(await operator().can("patch", "configmaps")).toBe(true);
  expect(await operator().can("create", "configmaps", { namespace: "shop" })).toBe(true);
  expect(await operator().can("update", "sites")).toBe(false);
  expect(await operator().can("get", "secrets", { namespace: "shop" })).toBe(false);
  expect(await operator().can("get", "/metrics")).toBe(false);
});

test("a request without the right is refused, and the message says who may not do what", async () => {
  const settings = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace: "shop" } };
  await expect(editor().create(settings)).rejects.toThrow(
    'User "devi" cannot create resource "configmaps" in API group "" in the namespace "shop"',
  );
});

test("the change of a binding takes effect with the next request", async () => {
  const before = server.snapshot();
  const mara = server.as("mara");
  expect(await mara.can("update", "sites", { namespace: "shop" })).toBe(false);
  await server.client.patch(
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", namespace: "shop", name: "editors" },
    { subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "mara" }] },
  );
  expect(await mara.can("update", "sites", { namespace: "shop" })).toBe(true);
  await server.restore(before);
  expect(await mara.can("update", "sites", { namespace: "shop" })).toBe(false);
});
