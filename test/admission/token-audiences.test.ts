import { expect, test } from "vitest";
import type { AgentRequest } from "../../src/admission/plugins/node-restriction/agent-request.ts";
import { checkAudience } from "../../src/admission/plugins/node-restriction/token-audiences.ts";
import type { Release } from "../../src/base/releases.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { platform } from "../../src/vocabulary/platform.ts";

const claimVolume = (name: string, claimName: string) => ({ name, persistentVolumeClaim: { claimName } });

/** Checks a request for a token for audience `a` with objects that are counted; `read` is called before each read. */
async function check(
  volumes: readonly object[],
  stored: Readonly<Record<string, object>>,
  read: () => void = () => undefined,
  release: Release = "1.37",
) {
  const reads: string[] = [];
  const find = (resource: string, name: string) => {
    read();
    reads.push(`${resource} ${name}`);
    return stored[`${resource} ${name}`];
  };
  const request = {
    target: {
      resource: { kind: { name: "ServiceAccount" }, group: "", name: "serviceaccounts" },
      name: "runner",
      namespace: "default",
    },
    object: { spec: { audiences: ["a"] } },
    user: { name: "system:node:n1" },
    vocabulary: platform,
    objects: {
      core: (resource: string, _namespace: string, name: string) => find(resource, name),
      clusterScoped: (_group: string, resource: string, name: string) => find(resource, name),
    },
  } as unknown as AgentRequest;
  const pod = { metadata: { name: "p" }, spec: { volumes } } as unknown as ApiObject;
  const authorizer = {
    authorize: () => ({ verdict: "noOpinion", reason: "", evaluationError: "" }) as const,
  };
  const message = await checkAudience(request, pod, { release, authorizer }).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );
  return { message, reads };
}

const volume = (name: string) => ({ [`persistentvolumes ${name}`]: { spec: { csi: { driver: "d" } } } });
const claim = (name: string) => ({ [`persistentvolumeclaims ${name}`]: { spec: { volumeName: name } } });
const driver = (...audiences: string[]) => ({
  "csidrivers d": { spec: { tokenRequests: audiences.map((audience) => ({ audience })) } },
});

test("each claim and each driver of a pod is read once", async () => {
  const volumes = ["x", "y", "x", "y"].map((name, index) => claimVolume(`v${index}`, name));
  const objects = { ...claim("x"), ...claim("y"), ...volume("x"), ...volume("y"), ...driver("other", "a") };
  const { message, reads } = await check([...volumes, { name: "own", csi: { driver: "d" } }], objects);
  expect(message).toBe("");
  expect(reads).toEqual([
    "persistentvolumeclaims x",
    "persistentvolumes x",
    "persistentvolumeclaims y",
    "persistentvolumes y",
    "csidrivers d",
  ]);
});

test("nothing is read if a projected volume names the audience", async () => {
  const projected = { name: "t", projected: { sources: [{ serviceAccountToken: { audience: "a" } }] } };
  expect(await check([claimVolume("v", "x"), projected], {})).toEqual({ message: "", reads: [] });
});

test("the claims of many volumes are read in several turns of the event loop", async () => {
  let turned = false;
  setImmediate(() => (turned = true));
  const turns: boolean[] = [];
  const volumes = ["x", "y", "z"].map((name) => claimVolume(name, name));
  await check(volumes, { ...claim("x"), ...claim("y"), ...claim("z") }, () => {
    turns.push(turned);
    const end = performance.now() + 4;
    while (performance.now() < end);
  });
  expect([turns[0], turns.at(-1)]).toEqual([false, true]);
});

test("the message names at most ten missing objects", async () => {
  const volumes = Array.from({ length: 30 }, (_, index) => claimVolume(`v${index}`, `c${index}`));
  const { message, reads } = await check(volumes, {});
  expect(reads).toHaveLength(30);
  expect(message.match(/not found/g)).toHaveLength(10);
});

test("in-tree volumes have the driver that replaced them from release 1.33 on", async () => {
  const objects = { "csidrivers ebs.csi.aws.com": { spec: { tokenRequests: [{ audience: "a" }] } } };
  const volumes = [{ name: "v", awsElasticBlockStore: { volumeID: "1" } }];
  expect(await check(volumes, objects)).toMatchObject({ message: "" });
  const earlier = await check(volumes, objects, undefined, "1.32");
  expect(earlier.message).toContain('audience "a" not found in pod spec volume');
});
