import { gzipSync } from "node:zlib";
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
    let errors = "";
    const streams = {
      readInput: () => Promise.reject(new Error("no input")),
      writeOutput: (text: string) => void (output += text),
      writeError: (text: string) => void (errors += text),
    };
    const named = words.map((word) => word.replaceAll("$DIR", folder.path));
    const hasManifests = Object.keys(files).some((name) => name.endsWith(".yaml"));
    const code = await runUpgradeCheck([...(hasManifests ? [folder.path] : []), ...named], {}, streams);
    return { code, output: output.replaceAll(folder.path, "."), errors: errors.replaceAll(folder.path, ".") };
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

/** An event of an audit log. */
function auditEvent(changes: object, reference: object = {}): string {
  const objectRef = {
    resource: "prioritylevelconfigurations",
    apiGroup: "flowcontrol.apiserver.k8s.io",
    apiVersion: "v1beta2",
    ...reference,
  };
  return JSON.stringify({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    stage: "ResponseComplete",
    verb: "list",
    user: { username: "system:serviceaccount:ci:deployer" },
    userAgent: "helm/3.9",
    stageTimestamp: "2026-01-02T03:04:05.000000Z",
    objectRef,
    ...changes,
  });
}

const removedLine =
  "system:serviceaccount:ci:deployer (helm/3.9) requests prioritylevelconfigurations of flowcontrol.apiserver.k8s.io/v1beta2, which is removed in 1.29";

test("plinth upgrade-check --audit-log names the clients of removed and deprecated versions", async () => {
  const log = [
    auditEvent({ stage: "RequestReceived" }),
    auditEvent({}),
    auditEvent({ stageTimestamp: "2026-02-02T03:04:05.000000Z" }),
    auditEvent({ verb: "watch", stage: "ResponseStarted" }),
    auditEvent(
      { user: { username: "admin" }, impersonatedUser: { username: "eve\u001b[31m" }, userAgent: undefined },
      { resource: "componentstatuses", apiGroup: undefined, apiVersion: "v1" },
    ),
    auditEvent(
      { annotations: { "k8s.io/deprecated": "true", "k8s.io/removed-release": "1.40" } },
      { resource: "ranges", apiGroup: "example.com", apiVersion: "v1alpha1" },
    ),
    auditEvent({}, { apiVersion: "v1" }),
    auditEvent({ objectRef: undefined }),
  ].join("\n");
  const words = ["--from=1.28", "--to=1.30", "--audit-log=$DIR/audit.log,$DIR/rotated.log.gz"];
  const files = { "audit.log": `${log}\n`, "rotated.log.gz": gzipSync(`${auditEvent({})}\n`) };
  const { code, output, errors } = await check(files, words);
  expect(errors).toBe("");
  expect(code).toBe(1);
  expect(output.split("\n").filter((line) => line.includes(" requests "))).toEqual([
    `${removedLine}: list, 3 times, the last at 2026-02-02T03:04:05.000000Z; use flowcontrol.apiserver.k8s.io/v1beta3`,
    `${removedLine}: watch, once, the last at 2026-01-02T03:04:05.000000Z; use flowcontrol.apiserver.k8s.io/v1beta3`,
    "eve\\u001b[31m requests componentstatuses of v1, which is deprecated: list, once, the last at 2026-01-02T03:04:05.000000Z",
    "system:serviceaccount:ci:deployer (helm/3.9) requests ranges of example.com/v1alpha1, which is deprecated: list, once, the last at 2026-01-02T03:04:05.000000Z",
  ]);
  const json = await check(files, [...words, "--output=json"]);
  expect(JSON.parse(json.output)).toMatchObject({ requests: { clients: [{ count: 3 }, {}, {}, {}] } });
  const early = await check({ "audit.log": log }, ["--from=1.26", "--to=1.28", "--audit-log=$DIR/audit.log"]);
  expect(early.code).toBe(0);
  expect(early.output).toContain(
    "of flowcontrol.apiserver.k8s.io/v1beta2, which is deprecated: list, 2 times",
  );
});

test("plinth upgrade-check --audit-log names the lines that are no events, and reads the others", async () => {
  const words = ["--from=1.28", "--to=1.30", "--audit-log=$DIR/audit.log"];
  const list = `{"kind":"EventList","items":[${auditEvent({})},1]}`;
  const log = `{\n\n[]\n{"kind":"Pod"}\n${list}\n${auditEvent({}).slice(0, 50)}`;
  const { output, errors } = await check({ "audit.log": log }, words);
  expect(output).toContain(`${removedLine}: list, once`);
  expect(errors.split("\n")).toEqual([
    "./audit.log:1: the line is left out: it is not JSON: a member's name in double quotes expected, found the end of the text",
    "./audit.log:3: the line is left out: it is not an audit event",
    "./audit.log:4: the line is left out: it is not an audit event",
    "./audit.log:6: the line is left out: it is not JSON: this string is never closed",
    "",
  ]);
  const many = await check({ "audit.log": "x\n".repeat(25) }, words);
  expect(many.errors).toContain("./audit.log: 15 more lines are left out\n");
  const long = await check(
    { "audit.log": `${auditEvent({ userAgent: "x".repeat(33 * 1024 * 1024) })}\n${auditEvent({})}\n` },
    words,
  );
  expect(long.errors).toBe("./audit.log:1: the line is left out: it is too long\n");
  expect(long.output).toContain(`${removedLine}: list, once`);
  await expect(check({ "a.log": "" }, [...words.slice(0, 2), "--audit-log=$DIR/b.log"])).rejects.toThrow(
    "b.log: the file doesn't exist",
  );
  await expect(check({ "a.gz": "x" }, [...words.slice(0, 2), "--audit-log=$DIR/a.gz"])).rejects.toThrow(
    "a.gz: unexpected end of file",
  );
});

test("plinth upgrade-check --audit-log lists a bounded number of clients", async () => {
  const log = Array.from({ length: 1200 }, (_, at) => auditEvent({ userAgent: `agent-${at}` })).join("\n");
  const { output } = await check({ "audit.log": log }, [
    "--from=1.28",
    "--to=1.30",
    "--audit-log=$DIR/audit.log",
  ]);
  expect(output.match(/^.* requests priority/gm)).toHaveLength(1000);
  expect(output).toContain("further clients send 200 more requests of these versions\n");
});

test("plinth upgrade-check refuses wrong releases", async () => {
  await expect(check({ "a.yaml": "" }, ["--to=1.30"])).rejects.toThrow("--from is needed");
  await expect(check({ "a.yaml": "" }, ["--from=1.30", "--to=1.28"])).rejects.toThrow(
    "--to: 1.28 is not later than --from 1.30",
  );
  await expect(check({ "a.yaml": "" }, ["--from=1.1", "--to=1.28"])).rejects.toThrow(
    '--from: "1.1" is not one of',
  );
  await expect(check({}, ["--from=1.26", "--to=1.28"])).rejects.toThrow(
    "name the manifests, a server by --server",
  );
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
