import { get } from "node:https";
import { setTimeout } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { childrenOf, roleOf } from "../support/child-processes.ts";
import { ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
let server: ServerProcess | undefined;
afterAll(async () => {
  await server?.stop();
  folder.remove();
});

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within 20 s: ${condition.toString()}`);
    await setTimeout(20);
  }
}

test("a connection that a worker hasn't taken is closed when the worker is killed", async () => {
  server = await ServerProcess.start(folder.path, "--workers=2", "--log-level=info");
  const { url, log, pid } = server;
  await until(() => log.call(server).includes("2 workers serve"));
  const worker = childrenOf(pid).find((child) => roleOf(child) === "worker")!;
  process.kill(worker, "SIGSTOP");
  const results: (number | string | undefined)[] = [undefined, undefined, undefined];
  for (const index of results.keys()) {
    const request = get(`${url}/livez`, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      results[index] = response.statusCode;
    });
    request.once("error", (error: NodeJS.ErrnoException) => (results[index] = error.code));
  }
  // Connections go to the workers in turn, so the stopped one was sent the first or the second.
  await until(() => results[2] !== undefined && results.filter((result) => result === 200).length === 2);
  expect(results.filter((result) => result === undefined)).toHaveLength(1);
  process.kill(worker, "SIGKILL");
  await until(() => !results.includes(undefined));
  expect(results.toSorted()).toEqual([200, 200, "ECONNRESET"]);
});
