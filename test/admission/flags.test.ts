import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ServerHere } from "../support/server-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const tokens = path.join(folder.path, "tokens.csv");
writeFileSync(tokens, "admin,root,1,system:masters\n");
afterAll(() => folder.remove());

const pod = { metadata: { name: "it" }, spec: { containers: [{ name: "c", image: "example.com/i:1" }] } };
const asRoot = { ...pod.spec, securityContext: { runAsUser: 0 } };

describe("admission plugin flags", () => {
  test.each([
    [
      "C-4.13-06 --enable-admission-plugins enables the listed plugins",
      "SecurityContextDeny,AlwaysPullImages",
    ],
    [
      "C-4.13-06 --enable-admission-plugins accepts the plugins in any order",
      "AlwaysPullImages,SecurityContextDeny",
    ],
  ])("%s", async (_, names) => {
    const server = await ServerHere.start(
      path.join(folder.path, names),
      `--token-auth-file=${tokens}`,
      "--disable-admission-plugins=ServiceAccount",
      `--enable-admission-plugins=${names}`,
    );
    try {
      const api = server.as("admin");
      const pods = "/api/v1/namespaces/default/pods";
      expect((await api.post(pods, { ...pod, spec: asRoot })).status).toBe(403);
      const { status, body } = await api.post(pods, pod);
      expect([status, body.spec.containers[0].imagePullPolicy]).toEqual([201, "Always"]);
    } finally {
      await server.stop();
    }
  });

  test("C-4.13-07 --disable-admission-plugins disables default plugins and has precedence over --enable-admission-plugins", async () => {
    const server = await ServerHere.start(
      path.join(folder.path, "off"),
      `--token-auth-file=${tokens}`,
      "--enable-admission-plugins=SecurityContextDeny,AlwaysPullImages",
      "--disable-admission-plugins=SecurityContextDeny,NamespaceLifecycle,ServiceAccount",
    );
    try {
      const api = server.as("admin");
      const { status, body } = await api.post("/api/v1/namespaces/default/pods", { ...pod, spec: asRoot });
      expect([status, body.spec.containers[0].imagePullPolicy]).toEqual([201, "Always"]);
      const map = { metadata: { name: "it" } };
      expect((await api.post("/api/v1/namespaces/missing/configmaps", map)).status).toBe(201);
    } finally {
      await server.stop();
    }
  });
});
