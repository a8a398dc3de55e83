import { describe, expect, test } from "vitest";
import { StatusError } from "../../src/base/status-error.ts";
import { ensureApiService } from "../../src/controllers/api-service/service.ts";
import type { Client } from "../../src/resources/clients/client.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const services = "/api/v1/namespaces/default/services";
const own = `${services}/${platform.apiServiceName}`;
const invalid = new StatusError("Invalid", "provided IP is already allocated");

/** A client whose creation of the Service is refused, and that finds it then or doesn't. */
function refused(error: Error, foundAfterwards: boolean): Client {
  let added = false;
  const client = {
    find: () => Promise.resolve(added && foundAfterwards ? { spec: {} } : undefined),
    add: () => {
      added = true;
      return Promise.reject(error);
    },
  };
  return client as unknown as Client;
}

describe("the Service of the API server", () => {
  const place = { clusterIp: "10.0.0.1", port: 6443 };

  test("is not created when another server has created it or its address in the meantime", async () => {
    await ensureApiService(refused(invalid, true), platform, place);
    await ensureApiService(refused(new StatusError("AlreadyExists", "there"), false), platform, place);
    await expect(ensureApiService(refused(invalid, false), platform, place)).rejects.toBe(invalid);
  });

  test("is reported as missing only when its address is still allocated at the next renewal", async () => {
    const [folder, clock, warnings] = [temporaryFolder(), new ManualClock(), [] as string[]];
    const storage = { engine: "embedded", dir: folder.path } as const;
    const log = {
      info: () => undefined,
      error: () => undefined,
      warn: (_facts: object, message: string) => warnings.push(message),
    };
    const missing = () => warnings.filter((one) => one.includes("own service")).length;
    try {
      const before = await TestServer.start({ storage, clock, serviceClusterIpRanges: ["10.1.0.0/24"] });
      await ok(before.admin.delete(own));
      const spec = { clusterIP: "10.1.0.1", ports: [{ port: 80 }] };
      await ok(before.admin.post(services, { metadata: { name: "taker" }, spec }));
      await before.close();
      const ranges = { serviceClusterIpRanges: ["10.1.0.0/24"], identityLease: true };
      const server = await TestServer.start({ storage, clock, log, ...ranges });
      try {
        expect([missing(), (await server.admin.get(own)).status]).toEqual([0, 404]);
        await clock.advance(10_000);
        await expect.poll(missing).toBe(1);
        await ok(server.admin.delete(`${services}/taker`));
        await clock.advance(10_000);
        await expect.poll(async () => (await server.admin.get(own)).status).toBe(200);
        expect((await server.admin.get(own)).body.spec.clusterIP).toBe("10.1.0.1");
      } finally {
        await server.close();
      }
    } finally {
      folder.remove();
    }
  });
});
