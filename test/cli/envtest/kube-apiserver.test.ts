import { spawn } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAuthority } from "../../../src/base/certificates/serving-certificates.ts";
import type { Api } from "../../support/api.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import {
  anonymous,
  AssetProcess,
  clientOf,
  install,
  prepareControlPlane,
  wordsOf,
  type ControlPlane,
} from "./support.ts";

const folder = temporaryFolder();
const temporary = path.join(folder.path, "tmp");
let file: string;
beforeAll(() => {
  mkdirSync(temporary);
  file = path.join(install(path.join(folder.path, "assets")), "kube-apiserver");
});
afterAll(() => folder.remove());

/** Starts it and waits until envtest's health check succeeds. */
async function start(
  plane: ControlPlane,
  words: readonly string[],
  env = {},
  program = file,
): Promise<AssetProcess> {
  const running = AssetProcess.start(program, words, { TMPDIR: temporary, ...env });
  const api = anonymous(plane);
  await running.untilHealthy(async () => (await api.get("/healthz")).status === 200);
  api.close();
  return running;
}

describe("the program kube-apiserver of an assets folder", () => {
  let plane: ControlPlane;
  let running: AssetProcess;
  let admin: Api;
  beforeAll(async () => {
    plane = await prepareControlPlane(folder.path);
    running = await start(plane, wordsOf(plane.flags), {
      PLINTH_VOCABULARY: "platform",
      PLINTH_CONTROLLERS: "*",
    });
    admin = clientOf(plane, "admin", ["system:masters"]);
  });
  afterAll(async () => {
    admin.close();
    await running.stop();
  });
  const namesOf = async (url: string) =>
    (await admin.get(url)).body.items.map((one: { metadata: { name: string } }) => one.metadata.name);

  test("authenticates clients with certificates of envtest's client CA, and only these", async () => {
    const attributes = { verb: "get", resource: "pods" };
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: attributes },
    };
    const statusOf = async (api: Api) => {
      const { status, body } = await api.post(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        review,
      );
      api.close();
      return [status, body.status?.allowed];
    };
    expect(await statusOf(clientOf(plane, "someone", ["system:masters"]))).toEqual([201, true]);
    expect(await statusOf(clientOf(plane, "someone", []))).toEqual([201, false]);
    const stranger = clientOf(plane, "someone", ["system:masters"], createAuthority());
    expect((await statusOf(stranger))[0]).toBe(401);
  });

  test("has the names and the default objects of a kube-apiserver", async () => {
    expect((await admin.get("/version")).body).toMatchObject({ major: "1", minor: "26" });
    expect(await namesOf("/api/v1/namespaces")).toEqual([
      "default",
      "kube-node-lease",
      "kube-public",
      "kube-system",
    ]);
    expect(await namesOf("/api/v1/services")).toEqual(["kubernetes"]);
    expect(await namesOf("/apis/rbac.authorization.k8s.io/v1/clusterroles")).toContain("cluster-admin");
    expect(await namesOf("/apis/scheduling.k8s.io/v1/priorityclasses")).toContain("system-node-critical");
    expect(await namesOf("/apis/flowcontrol.apiserver.k8s.io/v1beta3/flowschemas")).toContain("catch-all");
  });

  test("runs no controllers of the controller manager", async () => {
    const { text } = await admin.get("/readyz?verbose");
    const names = [...text.matchAll(/poststarthook\/controllers\/([a-z-]+)/g)].map(([, name]) => name);
    expect(names.toSorted()).toEqual([
      "apiservice-availability",
      "apiservice-registration",
      "customresourcedefinition",
      "event-expiry",
      "resourcequota-charges",
    ]);
    await admin.post("/api/v1/namespaces", { metadata: { name: "suite" } });
    // An admission plugin would reject the pod if its service account were required.
    const pod = { metadata: { name: "one" }, spec: { containers: [{ name: "main", image: "image" }] } };
    expect((await admin.post("/api/v1/namespaces/suite/pods", pod)).status).toBe(201);
    expect(await namesOf("/api/v1/serviceaccounts")).toEqual([]);
    expect(await namesOf("/api/v1/namespaces/suite/configmaps")).toEqual([]);
    await admin.delete("/api/v1/namespaces/suite");
    expect((await admin.get("/api/v1/namespaces/suite")).body).toMatchObject({
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Terminating" },
    });
  });

  test("issues tokens of service accounts with envtest's key and issuer", async () => {
    await admin.post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } });
    const { status, body } = await admin.post("/api/v1/namespaces/default/serviceaccounts/robot/token", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {},
    });
    expect(status).toBe(201);
    const review = await admin.post("/apis/authentication.k8s.io/v1/tokenreviews", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token: body.status.token },
    });
    expect(review.body.status).toMatchObject({
      authenticated: true,
      user: { username: "system:serviceaccount:default:robot" },
    });
    const claims = JSON.parse(Buffer.from(body.status.token.split(".")[1], "base64url").toString());
    expect(claims.iss).toBe(`https://127.0.0.1:${plane.port}/`);
  });
});

describe("command lines", () => {
  test("of envtest 0.14 with the flags of users work, also in two words", async () => {
    const plane = await prepareControlPlane(folder.path);
    const { "service-cluster-ip-range": range, ...flags } = plane.flags;
    const words = [
      "--advertise-address=127.0.0.1",
      ...wordsOf(flags),
      "--service-cluster-ip-range",
      range![0]!,
      "--feature-gates=CustomResourceValidationExpressions=true",
      "--runtime-config=api/all=true",
      "--enable-admission-plugins=PodSecurity",
      "--storage-backend=etcd3",
      "--etcd-prefix=/suite",
      "--watch-cache=false",
      "--max-requests-inflight=1000",
      "--v=4",
    ];
    const running = await start(plane, words);
    expect(await running.stop()).toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("the program follows the release of its folder, or the one of --release", async () => {
    const later = path.join(install(path.join(folder.path, "later"), "--release=1.37"), "kube-apiserver");
    for (const [words, minor] of [
      [[], "37"],
      [["--release=1.30"], "30"],
    ] as const) {
      const plane = await prepareControlPlane(folder.path);
      const running = await start(plane, [...wordsOf(plane.flags), ...words], {}, later);
      const api = anonymous(plane);
      expect((await api.get("/version")).body).toMatchObject({ minor });
      api.close();
      await running.stop();
    }
  });

  test("--controllers turns on controllers", async () => {
    const plane = await prepareControlPlane(folder.path);
    const running = await start(plane, [...wordsOf(plane.flags), "--controllers=serviceaccount"]);
    const admin = clientOf(plane, "admin", ["system:masters"]);
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    await running.untilHealthy(async () => (await admin.get(account)).status === 200);
    admin.close();
    await running.stop();
  });

  test.each([
    ["--unknown=1", "unknown flag --unknown"],
    ["--vocabulary=platform", "unknown flag --vocabulary"],
    ["--secure-port=x", "--secure-port"],
  ])("with %s fail and leave nothing behind", async (word, message) => {
    const plane = await prepareControlPlane(folder.path);
    const running = AssetProcess.start(file, [...wordsOf(plane.flags), word], { TMPDIR: temporary });
    await expect(running.untilHealthy(() => Promise.resolve(false))).rejects.toThrow(message);
    expect(running.child.exitCode).toBe(2);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

test("the program ends and removes its temporary folder when its parent is killed", async () => {
  const plane = await prepareControlPlane(folder.path);
  const script = `"$0" "$@" & echo $!; wait`;
  const parent = spawn("sh", ["-c", script, file, ...wordsOf(plane.flags)], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const api = anonymous(plane);
  let pid = "";
  parent.stdout.on("data", (part) => (pid += String(part)));
  const isHealthy = () => api.get("/healthz").then(({ status }) => status === 200);
  const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
  while (!(await isHealthy().catch(() => false))) await pause();
  expect(readdirSync(temporary)).toHaveLength(1);
  parent.kill("SIGKILL");
  api.close();
  while (isAlive(Number(pid))) await pause();
  expect(readdirSync(temporary)).toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
