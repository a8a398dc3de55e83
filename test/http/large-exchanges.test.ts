import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
let server: ServerProcess;
beforeAll(async () => {
  const tokens = path.join(root, "examples/organisation/tokens.csv");
  server = await ServerProcess.start(folder.path, `--token-auth-file=${tokens}`);
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

it("a connection takes large bodies and answers one after the other", async () => {
  const admin = server.as("admin-token");
  const checks = Array.from({ length: 1000 }, (_, index) => ({
    subject: {
      user: `user-${index}`,
      resourceAttributes: { namespace: "place", verb: "get", resource: "pods" },
    },
  }));
  for (let turn = 0; turn < 30; turn++) {
    const { status, body } = await admin.post("/apis/insight.platform.io/v1/bulkaccessreviews", {
      spec: { checks },
    });
    expect([status, body.status.results.length]).toEqual([201, 1000]);
  }
});

it("a connection takes a large body after a large answer, whole or streamed", async () => {
  const admin = server.as("admin-token");
  const path = "/api/v1/namespaces/default/configmaps";
  const map = (name: string) => ({ metadata: { name }, data: { text: "x".repeat(50_000) } });
  for (let n = 0; n < 12; n++) expect((await admin.post(path, map(`large-${n}`))).status).toBe(201);
  for (const [kind, before] of Object.entries({
    object: `${path}/large-0`,
    page: `${path}?limit=5`,
    list: `${path}?labelSelector=!missing`,
  })) {
    for (let turn = 0; turn < 25; turn++) {
      expect((await admin.get(before)).status).toBe(200);
      const { status } = await admin.put(`${path}/large-1`, map("large-1"));
      expect([kind, turn, status]).toEqual([kind, turn, 200]);
    }
  }
});
