import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { until } from "../api/support.ts";
import { root, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Has a process throw, on a signal, where nothing catches. */
const fault = `
process.on("SIGUSR2", () => {
  setImmediate(() => void Promise.reject(new Error("a rejection of nobody's")));
  throw new Error("an exception of nobody's");
});
`;

test("an uncaught exception is logged with its stack and counted, and the server keeps serving", async () => {
  const folder = temporaryFolder();
  const file = path.join(folder.path, "fault.mjs");
  writeFileSync(file, fault);
  const { NODE_OPTIONS } = process.env;
  process.env["NODE_OPTIONS"] = `--import=${file}`;
  const tokens = path.join(root, "examples/organisation/tokens.csv");
  const server = await ServerProcess.start(folder.path, `--token-auth-file=${tokens}`).finally(() => {
    if (NODE_OPTIONS === undefined) delete process.env["NODE_OPTIONS"];
    else process.env["NODE_OPTIONS"] = NODE_OPTIONS;
  });
  try {
    process.kill(server.pid, "SIGUSR2");
    await until(
      () => server.log(),
      (log) => log.includes("a rejection of nobody's"),
    );
    expect(server.log()).toMatch(/an exception of nobody's\\n\s+at /);
    const { status, text } = await server.as("admin-token").get("/metrics");
    expect(status).toBe(200);
    expect(text).toContain('platform_defects_total{source="process"} 2');
  } finally {
    expect(await server.stop()).toBe(0);
    folder.remove();
  }
});
