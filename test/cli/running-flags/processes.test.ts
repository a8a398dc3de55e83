import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Api } from "../../support/api.ts";
import { ServerProcess } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const at = (name: string) => path.join(folder.path, name);

/** Starts a process, has it serve a request, and stops it; what it has logged. */
async function logOf(name: string, ...flags: readonly string[]): Promise<string> {
  const server = await ServerProcess.start(at(name), "--storage-backend=memory", ...flags);
  const api = new Api(server.url, readFileSync(server.caFile, "utf8"), undefined);
  expect((await api.get("/version")).status).toBe(200);
  api.close();
  await server.stop();
  return server.log();
}

describe("flags of the process", () => {
  let usual: string;
  let changed: string;
  const deprecated = ["--admission-control=NamespaceLifecycle,ServiceAccount", "--apiserver-count=2"];
  const warning = "--admission-control is deprecated since 1.10";
  beforeAll(async () => {
    usual = await logOf("usual", ...deprecated);
    const flags = [
      "--flag-deprecation-warnings=false",
      "--log-level=info",
      `--write-kubeconfig=${at("own.kubeconfig")}`,
    ];
    changed = await logOf("changed", ...deprecated, ...flags);
  });

  test("C-9.2-08 --flag-deprecation-warnings=false keeps warnings of deprecated flags out of the log, which else has one for each", () => {
    for (const name of ["admission-control", "apiserver-count"])
      expect(usual).toMatch(
        new RegExp(`"level":40,[^\\n]*"--${name} is deprecated since 1\\.\\d+, [^\\n]+"\\}`),
      );
    expect(usual.split(warning)).toHaveLength(2);
    expect(changed).not.toContain("is deprecated since");
  });

  test("--log-level=info shows lines that --log-level=warn leaves out", () => {
    const levels = (log: string) => new Set([...log.matchAll(/"level":(\d+)/g)].map(([, level]) => level));
    expect(levels(changed)).toContain("30");
    expect(levels(usual)).not.toContain("30");
    expect(levels(usual)).toContain("40");
  });

  test("--write-kubeconfig=FILE puts the administrator's configuration there and not into --data-dir", () => {
    expect(readFileSync(at("own.kubeconfig"), "utf8")).toContain("client-certificate-data");
    expect(statSync(at("own.kubeconfig")).mode & 0o777).toBe(0o600);
    expect([existsSync(at("changed/admin.kubeconfig")), existsSync(at("usual/admin.kubeconfig"))]).toEqual([
      false,
      true,
    ]);
  });
});
