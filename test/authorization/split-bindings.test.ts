import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createServer, type Server } from "../../src/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const annotation = "rbac.authorization.kubernetes.io/autoupdate";
const reference = (name: string) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  name,
});
const [discovery, viewer] = [reference("system:discovery"), reference("system:public-info-viewer")];
const group = (name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name });

describe("the default binding of public-info-viewer that is missing at a start", () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  /** Starts a server, runs the function and closes the server. */
  async function during(store: string, run: (server: Server) => Promise<void>): Promise<void> {
    const storage = { engine: "embedded", dir: path.join(folder.path, store) } as const;
    const server = await createServer({ port: false, vocabulary: "kubernetes", storage, controllers: [] });
    try {
      await run(server);
    } finally {
      await server.close();
    }
  }

  test.each([
    ["false", [group("developers")]],
    ["true", [group("developers"), group("system:authenticated"), group("system:unauthenticated")]],
  ])(
    "has the subjects and annotations of the binding of discovery when autoupdate is %s",
    async (auto, all) => {
      await during(auto, async ({ client }) => {
        const patch = {
          metadata: { annotations: { [annotation]: auto, origin: "administrator" } },
          subjects: [group("developers")],
        };
        await client.patch(discovery, patch);
        await client.delete(viewer);
      });
      await during(auto, async ({ client }) => {
        expect(await client.get(viewer)).toMatchObject({
          metadata: { annotations: { [annotation]: auto, origin: "administrator" } },
          roleRef: { name: "system:public-info-viewer" },
          subjects: all,
        });
      });
    },
  );
});
