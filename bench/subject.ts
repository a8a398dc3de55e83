/** The measured server: the product in a process of its own, or another running server. */
import { mkdtempSync, rmSync, writeFileSync, readFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rbac, authorization } from "../src/kinds/groups.ts";
import { groupName } from "../src/schema/kind.ts";
import { kubernetes } from "../src/vocabulary/kubernetes.ts";
import { platform } from "../src/vocabulary/platform.ts";
import type { Vocabulary } from "../src/vocabulary/vocabulary.ts";
import { Api } from "./api.ts";
import type { Address } from "./load/plan.ts";
import { forgetProduct, meterFlags, watchProduct } from "./meter.ts";
import type { Options } from "./options.ts";
import { printProfile, profileFlags } from "./profile.ts";
import { root, start, stop } from "./processes.ts";

/** A server that is measured, with what it needs to be. */
export interface Subject {
  readonly address: Address;
  /** Whose requests are measured: an ordinary user with bindings (a target: its administrator). */
  readonly token: string;
  readonly user: string;
  /** The administrator. */
  readonly api: Api;
  /** Undefined for a target. */
  readonly pid: number | undefined;
  /** A namespace of this bench's own. */
  readonly namespace: string;
  readonly rbacGroup: string;
  readonly authorizationGroup: string;
  close(): Promise<void>;
}

const benchUser = "bench-user";
/** Bearer token of the administrator of a product that the bench started. */
export const adminToken = "bench-admin-token";
const userToken = "bench-user-token";
/** A second user of a product that the bench started, with no rights but those that a scenario gives them. */
export const otherUser = "bench-other";
export const otherToken = "bench-other-token";

export function vocabularyOf({ vocabulary }: Pick<Options, "vocabulary">): Vocabulary {
  return vocabulary === "kubernetes" ? kubernetes : platform;
}

const folders = new Set<string>();
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is removed when the bench ends, at the latest. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "plinth-bench-"));
  folders.add(folder);
  return folder;
}

/** A product that was started, before anything is in it. */
export interface Product {
  readonly address: Address;
  readonly pid: number;
  /** From the start of the process to the line that says that it serves. */
  readonly readyMs: number;
  close(): Promise<void>;
}

const startTimeoutMs = 120_000;

/** What a product is started with beside what each has. */
export interface ProductExtras {
  readonly flags?: readonly string[];
  /** Lines of the file of static tokens. */
  readonly tokens?: readonly string[];
  /** Whether it runs without the meter, whose loading takes some milliseconds and some memory. */
  readonly bare?: boolean;
}

export interface SubjectExtras extends ProductExtras {
  /** The data folder, which is kept; by default an empty one that is removed. */
  readonly dir?: string;
}

/** Runs `plinth serve` on a folder. */
export async function startProduct(
  { vocabulary, profile }: Pick<Options, "vocabulary" | "profile">,
  dir: string,
  profileName?: string,
  { flags: more = [], tokens: moreTokens = [], bare = false }: ProductExtras = {},
): Promise<Product> {
  mkdirSync(dir, { recursive: true });
  const tokenFile = join(dir, "tokens.csv");
  const tokens = [
    `${adminToken},admin,1,system:masters`,
    `${userToken},${benchUser},2,benchers`,
    `${otherToken},${otherUser},3`,
    ...moreTokens,
  ];
  writeFileSync(tokenFile, `${tokens.join("\n")}\n`);
  const profiles =
    profile === undefined || profileName === undefined ? undefined : join(profile, profileName);
  const flags = [...profileFlags(profiles), ...(bare ? [] : meterFlags)];
  const begun = performance.now();
  const child = start(
    process.execPath,
    [
      ...flags,
      join(root, "dist/plinth.js"),
      "serve",
      `--data-dir=${dir}`,
      "--secure-port=0",
      `--token-auth-file=${tokenFile}`,
      `--vocabulary=${vocabulary}`,
      "--log-level=warn",
      ...more,
    ],
    { stdio: ["ignore", "pipe", "inherit", ...(bare ? [] : ["ipc" as const])] },
  );
  const url = await new Promise<URL>((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => reject(new Error("the product doesn't get ready")), startTimeoutMs);
    child.stdout!.on("data", (part: Buffer) => {
      text += part.toString();
      const match = /https:\S+/.exec(text);
      if (match === null) return;
      clearTimeout(timer);
      resolve(new URL(match[0]));
    });
    child.once("exit", (code) => reject(new Error(`the product ended with ${code}`)));
  });
  const readyMs = performance.now() - begun;
  if (!bare) await watchProduct(child);
  const ca = readFileSync(join(dir, "pki/ca.crt"), "utf8");
  return {
    address: { host: url.hostname, port: Number(url.port), ca },
    pid: child.pid!,
    readyMs,
    async close() {
      await forgetProduct(child.pid!);
      await stop(child);
      if (profiles !== undefined) printProfile(profiles, profileName!, child.pid!);
    },
  };
}

let opened = 0;

/** Starts the product on an empty or given folder, or takes the target, and prepares it for the bench. */
export async function openSubject(
  options: Options,
  profileName: string,
  extras: SubjectExtras = {},
): Promise<Subject> {
  const vocabulary = vocabularyOf(options);
  const names = {
    namespace: `bench-${process.pid}-${++opened}`,
    rbacGroup: groupName(rbac, vocabulary),
    authorizationGroup: groupName(authorization, vocabulary),
  };
  if (options.target !== undefined) {
    const { url, token, ca } = options.target;
    const address = { host: url.hostname, port: Number(url.port || 443), ca };
    const api = new Api(address, token);
    await api.createAll(1, () => namespaceObject(names.namespace));
    const close = async (): Promise<void> => {
      await removeNamespaces(api, [names.namespace]);
      api.close();
    };
    return { ...names, address, token, user: benchUser, api, pid: undefined, close };
  }
  const dir = extras.dir ?? temporaryFolder();
  const product = await startProduct(options, dir, profileName, extras);
  const { address, pid } = product;
  const api = new Api(address, adminToken);
  const subject = { ...names, address, token: userToken, user: benchUser, api, pid };
  await api.createAll(1, () => namespaceObject(names.namespace));
  await grantUser(subject);
  const close = async (): Promise<void> => {
    api.close();
    await product.close();
    if (extras.dir === undefined) rmSync(dir, { recursive: true, force: true });
  };
  return { ...subject, close };
}

/** How long a target may take to empty a namespace. */
const removalMs = 5 * 60 * 1000;

/** Deletes namespaces of a target and waits until they are gone: emptying them is work that would be measured too. */
export async function removeNamespaces(api: Api, names: readonly string[]): Promise<void> {
  for (const name of names) await api.try("DELETE", `/api/v1/namespaces/${name}`);
  const deadline = Date.now() + removalMs;
  for (const name of names) {
    while ((await api.try("GET", `/api/v1/namespaces/${name}`)).status !== 404) {
      if (Date.now() > deadline) throw new Error(`the namespace ${name} doesn't go away`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

export function namespaceObject(name: string): { path: string; object: object } {
  return {
    path: "/api/v1/namespaces",
    object: { apiVersion: "v1", kind: "Namespace", metadata: { name } },
  };
}

/** What the measured user needs: its namespace's objects, and to ask reviews. */
async function grantUser({
  api,
  namespace,
  rbacGroup,
  authorizationGroup,
}: Omit<Subject, "close">): Promise<void> {
  const apiVersion = `${rbacGroup}/v1`;
  const base = `/apis/${apiVersion}`;
  const own = `${base}/namespaces/${namespace}`;
  const subjects = [{ kind: "User", apiGroup: rbacGroup, name: benchUser }];
  const verbs = ["get", "list", "watch", "create", "update", "patch", "delete"];
  await api.ask("POST", `${own}/roles`, {
    apiVersion,
    kind: "Role",
    metadata: { name: "bench" },
    rules: [
      { apiGroups: [""], resources: ["configmaps", "pods", "secrets"], verbs },
      { apiGroups: ["apps"], resources: ["deployments"], verbs },
    ],
  });
  await api.ask("POST", `${own}/rolebindings`, {
    apiVersion,
    kind: "RoleBinding",
    metadata: { name: "bench" },
    roleRef: { apiGroup: rbacGroup, kind: "Role", name: "bench" },
    subjects,
  });
  await api.ask("POST", `${base}/clusterroles`, {
    apiVersion,
    kind: "ClusterRole",
    metadata: { name: "bench-asker" },
    rules: [{ apiGroups: [authorizationGroup], resources: ["*"], verbs: ["create"] }],
  });
  await api.ask("POST", `${base}/clusterrolebindings`, {
    apiVersion,
    kind: "ClusterRoleBinding",
    metadata: { name: "bench-asker" },
    roleRef: { apiGroup: rbacGroup, kind: "ClusterRole", name: "bench-asker" },
    subjects,
  });
}
