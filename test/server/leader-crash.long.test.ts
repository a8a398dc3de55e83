import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { ok, until } from "../api/support.ts";
import { nodeClient, outcome, requestObject, requestsPath } from "../controllers/certificate-support.ts";
import { ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const lease = "/apis/coordination.platform.io/v1/namespaces/platform-system/leases/apiserver-controllers";
const folder = temporaryFolder();
const servers: ServerProcess[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop("SIGKILL")));
  folder.remove();
});

async function start(): Promise<ServerProcess> {
  const tokens = path.join(folder.path, "tokens.csv");
  writeFileSync(tokens, "admin,root,1,system:masters\n");
  const server = await ServerProcess.start(folder.path, `--token-auth-file=${tokens}`);
  servers.push(server);
  return server;
}

/** The process that holds the lease. */
async function leader(of: ServerProcess): Promise<number> {
  const { body } = await of.as("admin").get(lease);
  return Number(String(body.spec.holderIdentity).split("_").at(-2));
}

/**
 * Makes requests that the controllers approve and sign. Each must be written three times: by who makes it, by the approver
 * and by the signer; nobody owns what the first says. Work that two servers did would show as another version, or as a failed write in a log.
 */
async function expectDoneOnce(by: ServerProcess): Promise<void> {
  const admin = by.as("admin");
  for (let count = 0; count < 10; count++) {
    const object = requestObject(nodeClient);
    await ok(admin.post(requestsPath, object));
    const at = `${requestsPath}/${object.metadata.name}`;
    expect((await outcome(admin, at)).issued).toBeDefined();
    const { body } = await admin.get(at);
    expect(body.status.conditions).toHaveLength(1);
    const managers = body.metadata.managedFields.map((one: { subresource?: string }) => one.subresource);
    expect(managers.toSorted()).toEqual(["approval", "status"]);
  }
}

test("a leader that is killed is replaced, at once on the same machine; no work is done twice", async () => {
  const first = await start();
  expect(await leader(first)).toBe(first.pid);
  const second = await start();
  expect(await leader(second)).toBe(first.pid);
  await expectDoneOnce(second);

  await first.stop("SIGKILL");
  const killedAt = Date.now();
  await until(
    () => leader(second),
    (pid) => pid === second.pid,
  );
  expect(Date.now() - killedAt).toBeLessThan(15_000);
  await expectDoneOnce(second);

  const third = await start();
  expect(await leader(third)).toBe(second.pid);
  await second.stop("SIGTERM");
  await until(
    () => leader(third),
    (pid) => pid === third.pid,
  );
  await expectDoneOnce(third);

  await third.stop("SIGKILL");
  // A server that is alone doesn't wait for the lease of one that was killed.
  const fourth = await start();
  expect(await leader(fourth)).toBe(fourth.pid);
  await expectDoneOnce(fourth);
  const { body } = await fourth.as("admin").get(lease);
  expect(body.spec.leaseTransitions).toBe(3);
}, 60_000);
