import { afterAll, beforeAll, expect, test } from "vitest";
import { runUpgradeCheck } from "../../../src/cli/upgrade-check/upgrade-check.ts";
import type { ValidationReport } from "../../../src/server/validation/problem.ts";
import { TestServer } from "../../support/api.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { deployment, problemLines, writeFiles, type Files } from "./support.ts";

async function check(files: Files, words: readonly string[]) {
  const folder = temporaryFolder();
  try {
    writeFiles(folder.path, files);
    let output = "";
    const streams = {
      readInput: () => Promise.reject(new Error("no input")),
      writeOutput: (text: string) => void (output += text),
      writeError: () => undefined,
    };
    const code = await runUpgradeCheck(
      [...(Object.keys(files).length === 0 ? [] : [folder.path]), ...words],
      {},
      streams,
    );
    return { code, output: output.replaceAll(folder.path, ".") };
  } finally {
    folder.remove();
  }
}

test("plinth upgrade-check names what later releases remove, reject, warn of and fill in, with the release", async () => {
  const files = {
    "flow.yaml":
      "apiVersion: flowcontrol.apiserver.k8s.io/v1beta3\nkind: PriorityLevelConfiguration\nmetadata: { name: a }\nspec: { type: Exempt }\n",
    "ends.yaml": "apiVersion: v1\nkind: Endpoints\nmetadata: { name: a }\n",
    "web.yaml": deployment,
  };
  const { code, output } = await check(files, ["--from=1.28", "--to=1.33", "-o", "json"]);
  expect(code).toBe(1);
  const lines = problemLines(JSON.parse(output) as ValidationReport);
  expect(lines).toContain(
    'flow.yaml:1:1 error kind apiVersion: from 1.32 on: no matches for kind "PriorityLevelConfiguration" in version ' +
      '"flowcontrol.apiserver.k8s.io/v1beta3": removed in 1.32; use flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration',
  );
  expect(lines.filter((line) => line.startsWith("ends.yaml"))).toEqual([
    "ends.yaml:1:1 warning deprecation : from 1.33 on: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  ]);
  expect(lines.filter((line) => line.startsWith("web.yaml"))).toEqual([]);
});

test("plinth upgrade-check names fields that take effect, and the gates that changed", async () => {
  const pod = `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec:\n  hostUsers: false\n  containers: [{ name: a, image: b }]\n`;
  const { code, output } = await check({ "pod.yaml": pod }, ["--from=1.26", "--to=1.33"]);
  expect(output).toContain(
    "./pod.yaml:5:3: warning: Pod a: spec.hostUsers: from 1.33 on: the field takes effect; it was dropped (change)",
  );
  expect(output).toMatch(
    /^feature gates that 1\.33 enables by default and 1\.26 doesn't: .*PodSchedulingReadiness/m,
  );
  expect(code).toBe(0);
});

test("plinth upgrade-check names the version that plinth convert writes", async () => {
  const capacity =
    "apiVersion: storage.k8s.io/v1beta1\nkind: CSIStorageCapacity\nmetadata: { name: a }\nstorageClassName: b\n";
  const { output } = await check({ "a.yaml": capacity }, ["--from=1.26", "--to=1.27"]);
  expect(output).toContain(
    "removed in 1.27; use storage.k8s.io/v1 CSIStorageCapacity; plinth convert writes it (kind)\n",
  );
});

test("plinth upgrade-check refuses wrong releases", async () => {
  await expect(check({ "a.yaml": "" }, ["--to=1.30"])).rejects.toThrow("--from is needed");
  await expect(check({ "a.yaml": "" }, ["--from=1.30", "--to=1.28"])).rejects.toThrow(
    "--to: 1.28 is not later than --from 1.30",
  );
  await expect(check({ "a.yaml": "" }, ["--from=1.1", "--to=1.28"])).rejects.toThrow(
    '--from: "1.1" is not one of',
  );
  await expect(check({}, ["--from=1.26", "--to=1.28"])).rejects.toThrow("name the manifests, or a server");
});

let server: TestServer;
beforeAll(async () => (server = await TestServer.start({ vocabulary: "kubernetes", release: "1.28" })));
afterAll(() => server.close());

test("plinth upgrade-check of a running server finds objects by their applied manifests, and requests of deprecated versions", async () => {
  const applied = JSON.stringify({
    apiVersion: "flowcontrol.apiserver.k8s.io/v1beta2",
    kind: "PriorityLevelConfiguration",
    metadata: { name: "old" },
    spec: { type: "Exempt" },
  });
  const base = "/apis/flowcontrol.apiserver.k8s.io/v1beta2/prioritylevelconfigurations";
  await server.admin.post(base, {
    ...(JSON.parse(applied) as object),
    spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } },
    metadata: { name: "old", annotations: { "kubectl.kubernetes.io/last-applied-configuration": applied } },
  });
  const { code, output } = await check({}, [
    "--from=1.28",
    "--to=1.30",
    `--kubeconfig=${server.server.kubeconfigFile()}`,
  ]);
  expect(code).toBe(1);
  expect(output).toContain(
    "error: PriorityLevelConfiguration old: apiVersion: from 1.29 on: no matches for kind",
  );
  expect(output).toContain(
    "clients still request prioritylevelconfigurations of flowcontrol.apiserver.k8s.io/v1beta2, which is removed in 1.29; the audit log names them",
  );
});
