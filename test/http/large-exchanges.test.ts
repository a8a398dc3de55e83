import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root, ServerProcess, temporaryFolder } from "../support/process.ts";

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
