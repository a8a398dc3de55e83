import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";

const path = "/api/v1/namespaces/default/configmaps";
/** Of a kind that isn't served, so that nothing is concluded from its absence. */
const owner = { apiVersion: "example.com/v1", kind: "Owner", name: "owner", uid: "u-1" };
const other = { ...owner, uid: "u-2" };
/** The same uid, but another object: who knows why it is there. */
const alike = { ...owner, controller: true };

describe("owners that are named more than once", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  const map = (name: string, ownerReferences: readonly object[]) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ownerReferences },
  });
  const ownersOf = ({ body }: { body: unknown }) =>
    (body as { metadata: { ownerReferences?: object[] } }).metadata.ownerReferences;

  it("are kept once by create and update, with a warning that names them", async () => {
    const made = await server.admin.post(path, map("one", [owner, other, owner, other, alike]));
    expect([made.status, ownersOf(made)]).toEqual([201, [owner, other, alike]]);
    expect(made.headers["warning"]).toMatch(
      /^299 - "\.metadata\.ownerReferences contains duplicate entries; .*duplicate UID\(s\) observed: u-1, u-2"$/,
    );
    const put = await server.admin.put(`${path}/one`, map("one", [other, other]));
    expect([put.status, ownersOf(put)]).toEqual([200, [other]]);
    expect(put.headers["warning"]).toContain("observed: u-2");
    expect(ownersOf(await server.admin.get(`${path}/one`))).toEqual([other]);
  });

  it("are kept once by a patch", async () => {
    await server.admin.post(path, map("two", [owner]));
    const patched = await server.admin.ask("PATCH", `${path}/two`, {
      body: { metadata: { ownerReferences: [other, owner, other] } },
      contentType: "application/merge-patch+json",
    });
    expect([patched.status, ownersOf(patched)]).toEqual([200, [other, owner]]);
    expect(patched.headers["warning"]).toContain("after mutating admission happens");
  });

  it("give no warning where each is named once", async () => {
    const made = await server.admin.post(path, map("three", [owner, other, alike]));
    expect([made.status, ownersOf(made)]).toEqual([201, [owner, other, alike]]);
    expect(made.headers["warning"]).toBeUndefined();
  });
});
