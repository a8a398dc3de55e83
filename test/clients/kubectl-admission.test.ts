import { afterAll, beforeAll, expect, it } from "vitest";
import { readFileSync } from "node:fs";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ServerHere } from "../support/server-here.ts";

/** Admission on the command line, from the start of a new server. */
describeKubectl("kubectl and admission", (program) => {
  const folder = temporaryFolder();
  let server: ServerHere;
  let kubectl: Kubectl;

  beforeAll(async () => {
    server = await ServerHere.start(folder.path, "--vocabulary=kubernetes");
    kubectl = new Kubectl(program, readFileSync(server.administrator, "utf8"));
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.stop();
    folder.remove();
  });

  it("run: works right after the first start, and in a namespace just created", async () => {
    await kubectl.ok(["run", "first", "--image=example.com/i"]);
    await kubectl.ok(["create", "namespace", "team"]);
    await kubectl.ok(["run", "first", "--image=example.com/i", "--namespace=team"]);
    const shown = await kubectl.ok(["describe", "pod", "first", "--namespace=team"]);
    const account = ["get", "pod", "first", "--namespace=team", "-o=jsonpath={.spec.serviceAccountName}"];
    expect(await kubectl.ok(account)).toBe("default");
    expect(shown).toMatch(
      /\/var\/run\/secrets\/kubernetes.io\/serviceaccount from kube-api-access-\w{5} \(ro\)/,
    );
    expect(shown).toMatch(/ConfigMapName: +kube-root-ca.crt/);
  });

  it("apply: the error names the missing service account", async () => {
    const spec = { serviceAccountName: "robot", containers: [{ name: "c", image: "i" }] };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "lost" }, spec };
    const why = 'error looking up service account default/robot: serviceaccount "robot" not found';
    expect(await kubectl.fails(["apply", "-f", "-"], { input: JSON.stringify(pod) })).toContain(why);
    await kubectl.ok(["create", "serviceaccount", "robot"]);
    await kubectl.ok(["apply", "-f", "-"], { input: JSON.stringify(pod) });
  });

  it("describe limits: shows the limits, and run enforces them", async () => {
    await kubectl.ok(["create", "namespace", "limited"]);
    const limits = [
      { type: "Container", max: { cpu: "2" }, min: { cpu: "100m" }, defaultRequest: { cpu: "200m" } },
    ];
    const range = { apiVersion: "v1", kind: "LimitRange", metadata: { name: "limits" }, spec: { limits } };
    const made = await kubectl.run(["apply", "--namespace=limited", "-f", "-"], {
      input: JSON.stringify(range),
    });
    expect([made.code, made.stderr]).toEqual([0, ""]);
    const table = await kubectl.ok(["describe", "limits", "limits", "--namespace=limited"]);
    expect(table).toMatch(/^Container +cpu +100m +2 +200m +2 +-$/m);
    await kubectl.ok(["run", "fits", "--image=i", "--namespace=limited"]);
    const shown = await kubectl.ok(["describe", "pod", "fits", "--namespace=limited"]);
    expect(shown).toMatch(/Limits:\s+cpu: +2\s+Requests:\s+cpu: +200m/);
    expect(shown).toContain(
      "LimitRanger plugin set: cpu request for container fits; cpu limit for container fits",
    );
    const resources = { requests: { cpu: "3" }, limits: { cpu: "3" } };
    const overrides = JSON.stringify({ spec: { containers: [{ name: "big", image: "i", resources }] } });
    const refused = await kubectl.run([
      "run",
      "big",
      "--image=i",
      "--namespace=limited",
      `--overrides=${overrides}`,
    ]);
    expect(refused.stderr).toContain("maximum cpu usage per Container is 2, but limit is 3");
  });
});
