import { expect, test } from "vitest";
import { branch, within, withBranches, workspacesPath } from "./branches-support.ts";
import { maps } from "./history-support.ts";
import { configMap, ManualClock, ok, until } from "./support.ts";
import { useServer } from "../support/use-server.ts";

const clock = new ManualClock();
const server = useServer({ ...withBranches, clock });
const admin = () => server.admin;

test("the status of a workspace has its own objects, their size and its last use, once it has been unused for minutes", async () => {
  for (const name of ["usage-a", "usage-b"]) await ok(admin().post(maps, configMap(name, { v: "1" })));
  await branch(admin(), "usage");
  const statusOf = async () => (await ok(admin().get(`${workspacesPath}/usage`))).body.status;
  await ok(admin().patch(within("usage", `${maps}/usage-a`), { data: { v: "2" } }));
  await ok(admin().delete(within("usage", `${maps}/usage-b`)));
  await ok(admin().post(within("usage", maps), configMap("usage-c", { v: "x".repeat(10_000) })));
  await ok(admin().get(within("usage", maps)));
  const usedTime = new Date(clock.now()).toISOString().replace(/\.\d+/, "");
  expect(await statusOf()).not.toHaveProperty("lastUsedTime");
  const waiting = async () => {
    await clock.advance(60_000);
    return statusOf();
  };
  const status = await until(waiting, ({ lastUsedTime }) => lastUsedTime !== undefined);
  expect(status).toMatchObject({ phase: "Ready", lastUsedTime: usedTime, objects: 2 });
  expect(status.bytes).toBeGreaterThan(10_000);
  expect(status.bytes).toBeLessThan(14_000);
  // A branch that is being deleted and one that nobody has used have none.
  await branch(admin(), "usage-never");
  expect((await ok(admin().get(`${workspacesPath}/usage-never`))).body.status).not.toHaveProperty("objects");
});
