import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const services = "/api/v1/namespaces/default/services";
const service = (name: string, externalIPs?: string[]) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...(externalIPs === undefined ? {} : { externalIPs }) },
});

describe("DenyServiceExternalIPs", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ enabledAdmissionPlugins: ["DenyServiceExternalIPs"] });
  });
  afterAll(() => server.close());

  const why = /is forbidden: use of external IPs is denied by admission control/;

  test("C-4.13-40 rejects a new Service with external addresses", async () => {
    const answer = await server.admin.post(services, service("new", ["192.0.2.1"]));
    expect([answer.status, answer.body.reason]).toEqual([403, "Forbidden"]);
    expect(answer.body.message).toMatch(why);
    expect((await server.admin.get(`${services}/new`)).status).toBe(404);
    await ok(server.admin.post(services, service("plain")));
  });

  test("C-4.13-41 rejects an external address that is added to an existing Service with any verb", async () => {
    await ok(server.admin.post(services, service("gains")));
    const at = `${services}/gains`;
    const merged = await server.admin.patch(at, { spec: { externalIPs: ["192.0.2.1"] } });
    expect([merged.status, merged.body.message]).toEqual([403, expect.stringMatching(why)]);
    const { body } = await ok(server.admin.get(at));
    const put = await server.admin.put(at, { ...body, spec: { ...body.spec, externalIPs: ["192.0.2.1"] } });
    expect(put.status).toBe(403);
    const applied = await server.admin.ask("PATCH", `${at}?fieldManager=t`, {
      contentType: "application/apply-patch+yaml",
      body: { apiVersion: "v1", kind: "Service", ...service("gains", ["192.0.2.1"]) },
    });
    expect(applied.status).toBe(403);
  });
});

test("C-4.13-39 C-4.13-42 DenyServiceExternalIPs is off by default; when enabled, existing addresses can stay or be removed", async () => {
  const folder = temporaryFolder();
  const storage = { engine: "embedded", dir: folder.path } as const;
  const at = `${services}/old`;
  try {
    const open = await TestServer.start({ storage });
    await ok(open.admin.post(services, service("old", ["192.0.2.1", "192.0.2.2"])));
    await open.close();
    const guarded = await TestServer.start({ storage, enabledAdmissionPlugins: ["DenyServiceExternalIPs"] });
    try {
      await ok(guarded.admin.patch(at, { metadata: { labels: { a: "b" } } }));
      await ok(guarded.admin.patch(at, { spec: { externalIPs: ["192.0.2.2"] } }));
      const back = await guarded.admin.patch(at, { spec: { externalIPs: ["192.0.2.1", "192.0.2.2"] } });
      expect(back.status).toBe(403);
      const { body } = await ok(guarded.admin.patch(at, { spec: { externalIPs: null } }));
      expect(body.spec.externalIPs).toBeUndefined();
    } finally {
      await guarded.close();
    }
  } finally {
    folder.remove();
  }
});
