import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const path = "/api/v1/namespaces/default/configmaps";
/** An owner of a kind that is not served, so the garbage collector ignores it. */
const owner = { apiVersion: "example.com/v1", kind: "Owner", name: "owner", uid: "u-1" };
const other = { ...owner, uid: "u-2" };
/** An owner with the same uid and other fields, which is not a duplicate. */
const alike = { ...owner, controller: true };

describe("duplicate owner references", () => {
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

  it("are removed on create and update, with a warning that names them", async () => {
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

  it("are removed on patch", async () => {
    await server.admin.post(path, map("two", [owner]));
    const patched = await server.admin.ask("PATCH", `${path}/two`, {
      body: { metadata: { ownerReferences: [other, owner, other] } },
      contentType: "application/merge-patch+json",
    });
    expect([patched.status, ownersOf(patched)]).toEqual([200, [other, owner]]);
    expect(patched.headers["warning"]).toContain("after mutating admission happens");
  });

  it("are not reported when there are none", async () => {
    const made = await server.admin.post(path, map("three", [owner, other, alike]));
    expect([made.status, ownersOf(made)]).toEqual([201, [owner, other, alike]]);
    expect(made.headers["warning"]).toBeUndefined();
  });

  it("are removed from 20,000 references within 3 s, and 20,000 distinct references return 422", async () => {
    const equal = Array.from({ length: 20_000 }, () => owner);
    const usedMs = cpuStopwatch();
    const made = await server.admin.post(path, map("equal", equal));
    expect([made.status, ownersOf(made)]).toEqual([201, [owner]]);
    expect(made.warnings[0]).toMatch(/observed: (?:u-1, ){20}and 19979 more$/);
    const distinct = Array.from({ length: 20_000 }, (_, index) => ({ ...owner, name: `owner-${index}` }));
    const refused = await server.admin.post(path, map("distinct", distinct));
    expect([refused.status, refused.body.details.causes]).toEqual([
      422,
      [expect.objectContaining({ reason: "FieldValueTooMany", field: "metadata.ownerReferences" })],
    ]);
    expect(usedMs()).toBeLessThan(3000);
  });

  it("more than 4,096 owner references return 422", async () => {
    const owners = Array.from({ length: 4097 }, (_, index) => ({ ...owner, uid: `u-${index}` }));
    const refused = await server.admin.post(path, map("more", owners));
    expect([refused.status, refused.body.details.causes[0].message]).toEqual([
      422,
      "Too many: 4097: must have at most 4096 items",
    ]);
    expect((await server.admin.post(path, map("most", owners.slice(1)))).status).toBe(201);
  });
});
