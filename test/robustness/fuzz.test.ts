import { expect, test } from "vitest";
import { AUTHZ, RBAC, configMap, namespace, ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { Dice } from "../support/dice.ts";
import { stillAnswers } from "./support.ts";
import { effort } from "../support/effort.ts";

/** Duration and seed; a failure reports the seed that reproduces it. */
const seconds = Number(process.env["PLINTH_FUZZ_SECONDS"] ?? effort(2, 15));
const seed = Number(process.env["PLINTH_FUZZ_SEED"] ?? "20");
const maxAnswerMs = 10_000;

const names = [
  "a",
  "b",
  "default",
  "x",
  "system:y",
  "A_b",
  "",
  ".",
  "..",
  "__proto__",
  "constructor",
  "%00",
  "%2F",
  "a%20b",
  "ü",
  "n".repeat(300),
  "n".repeat(1100),
];
const types = ["configmaps", "secrets", "serviceaccounts", "namespaces", "status", "finalize", "nothing"];
const rbacTypes = ["roles", "rolebindings", "clusterroles", "clusterrolebindings"];
const reviews = [
  "subjectaccessreviews",
  "selfsubjectaccessreviews",
  "selfsubjectrulesreviews",
  "namespaces/default/localsubjectaccessreviews",
];
const methods = [
  "GET",
  "GET",
  "POST",
  "POST",
  "POST",
  "PUT",
  "PUT",
  "PATCH",
  "PATCH",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
];
const parameters = [
  "limit",
  "continue",
  "resourceVersion",
  "resourceVersionMatch",
  "labelSelector",
  "fieldSelector",
  "timeoutSeconds",
  "allowWatchBookmarks",
  "sendInitialEvents",
  "dryRun",
  "fieldValidation",
  "fieldManager",
  "force",
  "pretty",
  "gracePeriodSeconds",
  "propagationPolicy",
  "orphanDependents",
  "includeObject",
  "exclude",
  "verbose",
  "__proto__",
];
const values = [
  "",
  "0",
  "1",
  "-1",
  "2",
  "true",
  "false",
  "All",
  "Strict",
  "Warn",
  "Exact",
  "NotOlderThan",
  "a=b",
  "a in (b,c)",
  "!a",
  "metadata.name=a",
  "eyJ2IjoxfQ",
  "9007199254740993",
  "99999999999999999999",
  "1e9",
  "NaN",
  "%",
  "%00",
  "ü",
  "Background",
  "Orphan",
  "None",
  "x".repeat(2000),
  "a,".repeat(500),
];
const patchTypes = ["merge", "json", "strategic-merge"].map((kind) => `application/${kind}-patch+json`);
const bodyTypes = [
  "application/json",
  "application/json",
  "application/yaml",
  "application/merge-patch+json",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/vnd.platform.protobuf",
  "text/plain",
  "",
  ";;;",
  "application/json; charset=x",
];
const accepts = [
  "application/json",
  "*/*",
  "application/json;as=Table;v=v1;g=meta.platform.io",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.platform.io",
  "application/yaml",
  "application/vnd.platform.protobuf",
  "text/html",
  ";",
  "application/json;q=abc",
  ",,,",
];
const words = [
  "metadata",
  "name",
  "namespace",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
  "managedFields",
  "resourceVersion",
  "uid",
  "generateName",
  "deletionTimestamp",
  "data",
  "binaryData",
  "stringData",
  "type",
  "immutable",
  "rules",
  "verbs",
  "apiGroups",
  "resources",
  "resourceNames",
  "nonResourceURLs",
  "aggregationRule",
  "clusterRoleSelectors",
  "matchLabels",
  "matchExpressions",
  "roleRef",
  "subjects",
  "kind",
  "apiVersion",
  "apiGroup",
  "spec",
  "status",
  "user",
  "groups",
  "extra",
  "resourceAttributes",
  "nonResourceAttributes",
  "path",
  "verb",
  "op",
  "value",
  "from",
  "$patch",
  "$retainKeys",
  "$setElementOrder/finalizers",
  "$deleteFromPrimitiveList/finalizers",
  "secrets",
  "preconditions",
  "propagationPolicy",
  "gracePeriodSeconds",
  "dryRun",
  "__proto__",
  "constructor",
  "toString",
  "0",
  "-",
  "",
];
const scalars: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  "",
  "a",
  "get",
  "*",
  "/a",
  "/metadata/labels/x",
  "add",
  "remove",
  "copy",
  "replace",
  "delete",
  "2020-01-01T00:00:00Z",
  "eA==",
  "Role",
  "User",
  "\u0000",
  "\ud800",
  "😀",
];

function anything(dice: Dice, depth: number): unknown {
  if (depth === 0 || dice.chance(0.35)) return dice.pick(scalars);
  if (dice.chance(0.3)) return Array.from({ length: dice.below(4) }, () => anything(dice, depth - 1));
  return Object.fromEntries(
    Array.from({ length: dice.below(5) }, () => [dice.pick(words), anything(dice, depth - 1)]),
  );
}

const sound: readonly ((dice: Dice) => object)[] = [
  () => configMap("a"),
  () => ({ metadata: { name: "a" }, rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] }),
  () => ({
    metadata: { name: "a" },
    roleRef: { apiGroup: "", kind: "ClusterRole", name: "view" },
    subjects: [{ kind: "User", name: "u" }],
  }),
  () => ({
    spec: { user: "a", namespace: "default", resourceAttributes: { verb: "get", resource: "pods" } },
  }),
  () => ({ metadata: { generateName: "g-", finalizers: ["a.b/c"] } }),
  () => [{ op: "add", path: "/metadata/labels", value: {} }],
  () => ({ metadata: { finalizers: null } }),
];

/** A valid body with a random value inserted, a random value, or bytes that are no valid body. */
function bodyFrom(dice: Dice): Buffer {
  const kind = dice.below(10);
  if (kind === 0) return Buffer.from(Array.from({ length: dice.below(60) }, () => dice.below(256)));
  const value = dice.chance(0.6) ? structuredClone(dice.pick(sound)(dice)) : anything(dice, 5);
  if (typeof value === "object" && value !== null) {
    for (let i = dice.below(3); i > 0; i--) {
      const { metadata } = value as { metadata?: unknown };
      const inside = typeof metadata === "object" && metadata !== null && dice.chance(0.5) ? metadata : value;
      (inside as Record<string, unknown>)[dice.pick(words)] = anything(dice, 3);
    }
  }
  const text = JSON.stringify(value) ?? "";
  if (kind === 1) return Buffer.from(text.slice(0, dice.below(text.length + 1)));
  if (kind === 2) return Buffer.from(text.replace(/\d+/, "123456789012345678901234567890"));
  return Buffer.from(text);
}

/** A path that fits the method, or sometimes one that doesn't. */
function pathFrom(dice: Dice, method: string): string {
  const item = method === "POST" ? 0.05 : method === "GET" ? 0.5 : 0.9;
  const below = (type: string) => {
    let at = type;
    if (dice.chance(item)) at += `/${dice.chance(0.8) ? "a" : dice.pick(names)}`;
    if (dice.chance(0.05)) at += `/${dice.pick(types)}`;
    return at;
  };
  const scope = () =>
    dice.chance(0.85) ? `namespaces/${dice.chance(0.9) ? "default" : dice.pick(names)}/` : "";
  const roll = dice.below(20);
  if (roll < 7) return `/api/v1/${scope()}${below(dice.pick(types))}`;
  if (roll < 13) return `${RBAC}/${scope()}${below(dice.pick(rbacTypes))}`;
  if (roll < 16) return `${AUTHZ}/${dice.pick(reviews)}`;
  if (roll < 17)
    return dice.pick([
      "/livez",
      "/readyz/ping",
      "/healthz/",
      "/version",
      "/api",
      "/apis",
      "/",
      "/openapi/v2",
      "/openapi/v3",
    ]);
  return `/${Array.from({ length: dice.below(7) }, () => dice.pick(["api", "apis", "v1", ...names, ...types])).join("/")}`;
}

function queryFrom(dice: Dice): string {
  const count = dice.chance(0.5) ? 0 : dice.below(4);
  const pairs = Array.from({ length: count }, () => {
    const value = dice.pick(values);
    return `${dice.pick(parameters)}=${dice.chance(0.9) ? encodeURIComponent(value) : value}`;
  });
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

test(
  `${seconds} s of random requests: no 5xx, no hang (seed ${seed})`,
  { timeout: (seconds + 60) * 1000 },
  async () => {
    const defects: unknown[] = [];
    const server = await TestServer.start({
      runtimeConfig: "api/all",
      log: { info: () => undefined, warn: () => undefined, error: (facts) => void defects.push(facts) },
    });
    await ok(server.admin.post("/api/v1/namespaces", namespace("a")));
    const end = performance.now() + seconds * 1000;
    const counts = new Map<number, number>();
    const bad: unknown[] = [];
    const worker = async (dice: Dice) => {
      while (performance.now() < end && bad.length === 0) {
        const method = dice.pick(methods);
        const at = `${pathFrom(dice, method)}${queryFrom(dice)}`;
        const raw = method === "GET" || method === "HEAD" || dice.chance(0.05) ? undefined : bodyFrom(dice);
        const contentType = dice.chance(0.1)
          ? dice.pick(bodyTypes)
          : dice.pick(method === "PATCH" ? patchTypes : bodyTypes.slice(0, 3));
        const accept = dice.chance(0.8) ? undefined : dice.pick(accepts);
        const start = performance.now();
        const options = {
          contentType,
          ...(raw === undefined ? {} : { raw }),
          ...(accept === undefined ? {} : { accept }),
        };
        const { status, text } = await server.admin.ask(method, at, options);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        const slow = performance.now() - start > maxAnswerMs;
        // A read may request a future version: the response is 504.
        const expected = status === 504 && text.includes("Too large resource version");
        if ((status >= 500 && !expected) || slow)
          bad.push({
            method,
            at,
            raw: raw?.toString("latin1"),
            contentType,
            accept,
            status,
            text: text.slice(0, 500),
          });
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, i) => worker(new Dice(seed * 1000 + i))));
    console.log(
      `answers by status: ${[...counts]
        .toSorted(([a], [b]) => a - b)
        .map(([status, count]) => `${status}: ${count}`)
        .join(", ")}`,
    );
    expect({ bad, defects }).toEqual({ bad: [], defects: [] });
    await stillAnswers(server);
    await server.close();
  },
);
