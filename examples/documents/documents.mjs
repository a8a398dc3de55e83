// Access to the documents of a product. The server in this process stores roles and grants, the product's database stores documents.
import { fileURLToPath } from "node:url";
import { createServer } from "plinth";

const [group, resource] = ["documents.example.com", "documents"];
const [rbac, apiVersion] = ["rbac.authorization.platform.io", "rbac.authorization.platform.io/v1"];

/** Opens the grants in a folder. A user is `{ name, groups }`, a document `{ tenant, id }`. */
export async function openAccess(dir) {
  const server = await createServer({ port: false, storage: { engine: "embedded", dir } });
  await server.load(fileURLToPath(new URL("roles.yaml", import.meta.url)));
  for (const name of ["document-editor", "document-owner"])
    await server.client.waitFor({ apiVersion, kind: "ClusterRole", name }, (role) => role?.rules?.length > 0);

  /** Decides one action. */
  const may = (user, verb, { tenant: namespace, id: name }, subresource) =>
    server.as(user.name, user.groups).can(verb, resource, { group, namespace, name, subresource });

  /** Decides up to 1,000 actions `{ verb, tenant, id }`; without `id` for all documents, or `names` lists which. */
  async function review({ name: user, groups }, actions) {
    const checks = actions.map(({ verb, tenant: namespace, id: name }) => ({
      subject: { user, groups, resourceAttributes: { group, resource, verb, namespace, name } },
    }));
    const bulk = { apiVersion: "insight.platform.io/v1", kind: "BulkAccessReview" };
    return (await server.client.create({ ...bulk, spec: { checks, listNames: true } })).status.results;
  }

  /** Sets the readers of one document; an empty list ends the sharing. */
  async function share(owner, { tenant, id }, readers) {
    if (!(await may(owner, "share", { tenant, id }))) throw new Error(`${owner.name} may not share ${id}`);
    const metadata = { name: `${id}-readers`, namespace: tenant };
    const rules = [{ apiGroups: [group], resources: [resource], resourceNames: [id], verbs: ["get"] }];
    const roleRef = { apiGroup: rbac, kind: "Role", name: metadata.name };
    const subjects = readers.map((name) => ({ apiGroup: rbac, kind: "User", name }));
    const role = { apiVersion, kind: "Role", metadata, rules };
    const binding = { apiVersion, kind: "RoleBinding", metadata, roleRef, subjects };
    await server.client.apply([role, binding], { fieldManager: owner.name, force: true });
  }
  return { server, may, review, share };
}
