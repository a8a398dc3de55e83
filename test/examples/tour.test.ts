import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInstalled, root, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { kubectls } from "../support/kubectl.ts";

const readme = readFileSync(path.join(root, "README.md"), "utf8");

/** The commands of the README's blocks with this mark, in order. */
function commands(mark: string): string {
  return [...readme.matchAll(new RegExp(`^\`\`\`sh ${mark}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))]
    .map((match) => match[1])
    .join("\n");
}

/** The flags with which the README starts the server of a tour. */
function startFlags(containing: string): string[] {
  const line = readme.split("\n").find((one) => one.startsWith("npm start -- ") && one.includes(containing))!;
  return line
    .slice("npm start -- ".length)
    .split(" ")
    .filter((flag) => !flag.startsWith("--data-dir="))
    .map((flag) => flag.replace("=examples/", `=${root}/examples/`));
}

function run(script: string, environment: Record<string, string>): string {
  const env = { ...process.env, ...environment };
  const { status, stdout, stderr } = spawnSync("bash", ["-e", "-o", "pipefail", "-c", script], {
    cwd: root,
    env,
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  return stdout;
}

describe("the README's tour", () => {
  const folder = temporaryFolder();
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start(folder.path, ...startFlags("--token-auth-file=examples"));
  });
  afterAll(async () => {
    await server.stop();
    folder.remove();
  });

  it.skipIf(!isInstalled("curl"))("runs, and shows what it says (skipped where curl is missing)", () => {
    const out = run(commands("tour"), { SERVER: server.url, CA: server.caFile });
    expect(out).toContain("healthz check passed");
    expect(out).toMatch(/17\d created, 0 changed, 0 unchanged\n0 created, 0 changed, 17\d unchanged/);
    expect(out).toContain(
      String.raw`allowed by RoleBinding \"developers/shop-dev\" of ClusterRole \"developer\" to Group \"shop-developers\"`,
    );
    expect(out).toContain(String.raw`role.rbac.authorization.platform.io \"retired-deployer\" not found`);
    expect(out).toContain('"allowed": false');
    expect(out).toContain('"card-keys"');
    expect(out).toMatch(
      /User \\"mara\\" cannot get resource \\"configmaps\\" in API group \\"\\" in the namespace \\"shop-prod\\"/,
    );
    expect(out).toContain("1 created, 0 changed, 13 unchanged");
    expect(out).toContain('{"type":"ADDED","object":{"kind":"RoleBinding"');
    expect(server.log()).toBe("");
  });
});

it("the README's tours use different data folders, as each has a vocabulary of its own", () => {
  const folders = [...readme.matchAll(/^npm start -- .*$/gm)].map(
    ([line]) => /--data-dir=(\S+)/.exec(line)?.[1] ?? ".plinth",
  );
  expect(folders).toHaveLength(2);
  expect(new Set(folders).size).toBe(2);
});

describe("the README's tour with kubectl", () => {
  const folder = temporaryFolder();
  const kubectl = kubectls()[0];
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start(folder.path, ...startFlags("--vocabulary=kubernetes"));
  });
  afterAll(async () => {
    await server.stop();
    folder.remove();
  });

  it.skipIf(kubectl === undefined)("runs, and shows what it says (skipped where kubectl is missing)", () => {
    const script = `kubectl() { "${kubectl}" --cache-dir="${folder.path}/cache" "$@"; }\n${commands("kubectl-tour")}`;
    const ours = script.replace("KUBECONFIG=.plinth-kubernetes/", `KUBECONFIG=${folder.path}/`);
    const out = run(ours, { SERVER: server.url, CA: server.caFile });
    expect(out).toContain("clusterrole.rbac.authorization.k8s.io/developer created");
    expect(out).toMatch(/developers +ClusterRole\/developer/);
    expect(out).toMatch(/^yes$/m);
    expect(out).toMatch(/secrets +\[\] +\[card-keys\] +\[get update\]/);
    expect(out).toContain('namespace "search-dev" deleted');
  });
});
