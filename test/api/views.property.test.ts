import { beforeAll, expect, test } from "vitest";
import type { Api } from "../support/api.ts";
import { Dice } from "../support/dice.ts";
import { useServer } from "../support/use-server.ts";
import { RBAC, configMap, group, namespace, ok, rbacGroup, user } from "./support.ts";
import { chunksOf, createGrant, keysIn, type Grant } from "./views-support.ts";
import { effort } from "../support/effort.ts";

const rounds = effort(4, 20);
const namespaces = ["n", "n-1", "n-2", "n0", "other"];
const mapNames = Array.from({ length: 14 }, (_, i) => `m${i}`);
const users = [
  { name: "u1", groups: ["g1"] },
  { name: "u2", groups: ["g1", "g2"] },
  { name: "u3", groups: [] },
];
const server = useServer({ users });
beforeAll(async () => {
  for (const name of namespaces) {
    await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
    for (const map of mapNames) {
      await ok(server.admin.post(`/api/v1/namespaces/${name}/configmaps`, configMap(map)));
    }
  }
});

/** A random grant; most are of single names or in single namespaces. */
function randomGrant(dice: Dice, name: string): Grant {
  const inCluster = dice.chance(0.25);
  const names = [...mapNames.slice(0, 4), ...namespaces, "view", "edit", "a/b", ""];
  const some = <T>(from: readonly T[], count: number) => Array.from({ length: count }, () => dice.pick(from));
  const rule = () => ({
    verbs: dice.pick([["get"], ["get"], ["list", "watch"], ["*"], ["create", "get"]]),
    apiGroups: dice.pick([[""], [""], ["*"], [rbacGroup], ["", rbacGroup]]),
    resources: dice.pick([
      ["configmaps"],
      ["configmaps"],
      ["namespaces"],
      ["clusterroles", "namespaces"],
      ["*"],
    ]),
    ...(dice.chance(inCluster ? 0.85 : 0.4) ? { resourceNames: some(names, 1 + dice.below(3)) } : {}),
  });
  return {
    name,
    namespace: inCluster ? "" : dice.pick(namespaces),
    kind: inCluster || dice.chance(0.5) ? "ClusterRole" : "Role",
    rules: Array.from({ length: 1 + dice.below(2) }, rule),
    subject: dice.pick([
      user("u1"),
      user("u2"),
      user("u3"),
      group("g1"),
      group("g2"),
      group("system:authenticated"),
    ]),
  };
}

const collections = [
  ["/api/v1/configmaps", ""],
  ["/api/v1/namespaces/n/configmaps", ""],
  ["/api/v1/namespaces/nowhere/configmaps", ""],
  ["/api/v1/namespaces", ""],
  [`${RBAC}/clusterroles`, "&labelSelector=kubernetes.io/none"],
  [`${RBAC}/clusterroles`, ""],
] as const;

/** The objects of a collection that a `get` of each allows. */
async function gettable(api: Api, path: string, all: readonly string[]): Promise<string[]> {
  const allowed: string[] = [];
  for (const key of all) {
    const [inNamespace, name] = key.split("/");
    const at =
      inNamespace === "" ? `${path}/${name}` : `/api/v1/namespaces/${inNamespace}/configmaps/${name}`;
    const { status } = await api.get(at);
    if (status === 200) allowed.push(key);
    else expect(status).toBe(403);
  }
  return allowed;
}

test(
  "a list with view=mine has exactly the objects that a get of each allows, whole and in chunks, for random roles and bindings",
  { timeout: 120_000 },
  async () => {
    const dice = new Dice(7);
    let partial = 0;
    for (let round = 0; round < rounds; round++) {
      const created: string[] = [];
      for (let i = 0; i < 4; i++)
        created.push(...(await createGrant(server.admin, randomGrant(dice, `r${i}`))));
      for (const { name } of users) {
        const api = server.as(name);
        for (const [path, selector] of collections) {
          const all = keysIn(await ok(server.admin.get(`${path}?${selector}`)));
          const expected = await gettable(api, path, all);
          if (expected.length > 0 && expected.length < all.length) partial++;
          const list = `${path}?view=mine${selector}`;
          const whole = await ok(api.get(list));
          expect(keysIn(whole)).toEqual(expected);
          const limit = 1 + dice.below(6);
          const chunks = await chunksOf(api, `${list}&limit=${limit}`);
          expect(chunks.flatMap(keysIn)).toEqual(expected);
          expect(chunks).toHaveLength(Math.max(1, Math.ceil(expected.length / limit)));
        }
      }
      for (const path of created) await ok(server.admin.delete(path));
    }
    expect(partial).toBeGreaterThan(rounds);
  },
);
