import { generateKeyPairSync } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rbac } from "../../src/kinds/groups.ts";
import { groupName } from "../../src/schema/kind.ts";
import { Api } from "../api.ts";
import { etcdMissing, startEtcd } from "../etcd.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import type { Options } from "../options.ts";
import { timesOfRow, valueRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import {
  adminToken,
  namespaceObject,
  otherToken,
  otherUser,
  startProduct,
  temporaryFolder,
  vocabularyOf,
  type Product,
} from "../subject.ts";

/** Grants, and as many revocations. */
const changes = 200;
const manyChanges = 1000;
/** Until another server over the same etcd decides by what one has answered, in milliseconds. */
const etcdAimMs = 100;
/** A server that still decides otherwise after this time never will. */
const givenUpMs = 30_000;
const namespace = "granted";

/** Servers that should be of one mind; the same one twice, or two. */
interface Setting {
  readonly name: string;
  readonly products: readonly [Product, Product];
  readonly aimMs?: number;
}

/**
 * How long after the answer to a grant (a RoleBinding is created) or to a revocation (it is deleted) the next decision
 * goes by it: at the same server, at another one over the same data folder, and at another one over the same etcd.
 */
export const grant: Scenario = {
  name: "grant",
  remote: false,
  async *run({ options }: Bench) {
    const dir = temporaryFolder();
    const product = await startProduct(options, dir);
    try {
      yield* settingRows(options, { name: "same server", products: [product, product] });
      const second = await startProduct(options, dir);
      try {
        yield* settingRows(options, { name: "two servers, one folder", products: [product, second] });
      } finally {
        await second.close();
      }
    } finally {
      await product.close();
      rmSync(dir, { recursive: true, force: true });
    }
    const missing = etcdMissing();
    if (missing === undefined) yield* overEtcd(options);
    else console.log(`grant, two servers, one etcd: left out, as ${missing}`);
  },
};

async function* overEtcd(options: Options): AsyncGenerator<Row> {
  const dir = temporaryFolder();
  const etcd = await startEtcd();
  const started: Product[] = [];
  try {
    const key = join(dir, "accounts.pem");
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" }));
    const flags = [`--etcd-servers=${etcd.address}`, `--service-account-signing-key-file=${key}`];
    for (const name of ["one", "two"]) {
      started.push(await startProduct(options, join(dir, name), undefined, { flags }));
    }
    const products = started as [Product, Product];
    yield* settingRows(options, { name: "two servers, one etcd", products, aimMs: etcdAimMs });
  } finally {
    for (const product of started) await product.close();
    await etcd.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What was seen after each change of one sort. */
class Seen {
  /** From the answer to the change to the first answer that goes by it, in milliseconds. */
  readonly times: number[] = [];
  /** Answers after the change that still went by what was before. */
  old = 0;
}

async function* settingRows(options: Options, { name, products, aimMs }: Setting): AsyncGenerator<Row> {
  const admins = products.map(({ address }) => new Api(address, adminToken));
  const others = products.map(({ address }) => new Api(address, otherToken));
  const [granted, revoked] = [new Seen(), new Seen()];
  const count = options.full ? manyChanges : changes;
  try {
    await admins[0]!.createAll(1, () => namespaceObject(namespace));
    const collection = configMapsPath(namespace);
    const object = configMap(namespace, objectName(0));
    await admins[0]!.createAll(1, () => ({ path: collection, object }));
    const read = `${collection}/${objectName(0)}`;
    const { path, binding } = bindingFor(options);
    // Opens the connections of both, and shows that there is no grant yet.
    for (const other of others) await untilStatus(other, read, 403);
    for (let round = 0; round < count; round++) {
      const [admin, other] = [admins[round % 2]!, others[(round + 1) % 2]!];
      await admin.ask("POST", path, binding);
      await see(granted, other, read, 200);
      await admin.ask("DELETE", `${path}/${binding.metadata.name}`);
      await see(revoked, other, read, 403);
    }
  } finally {
    for (const api of [...admins, ...others]) api.close();
  }
  yield timesOfRow(`grant, ${name}, longest`, granted.times, aimMs);
  yield timesOfRow(`revocation, ${name}, longest`, revoked.times, aimMs);
  yield valueRow(`old decisions of ${2 * count}, ${name}`, "", granted.old + revoked.old, 0);
}

/** Asks at once, and again until the answer is as expected. */
async function see(seen: Seen, api: Api, path: string, expected: number): Promise<void> {
  const { milliseconds, others } = await untilStatus(api, path, expected);
  seen.times.push(milliseconds);
  seen.old += others;
}

async function untilStatus(
  api: Api,
  path: string,
  expected: number,
): Promise<{ milliseconds: number; others: number }> {
  const begun = performance.now();
  for (let others = 0; ; others++) {
    const { status } = await api.try("GET", path);
    const milliseconds = performance.now() - begun;
    if (status === expected) return { milliseconds, others };
    if (milliseconds > givenUpMs) throw new Error(`GET ${path} is still answered with ${status}`);
  }
}

/** A binding that lets the other user read in the namespace. */
function bindingFor(options: Options) {
  const group = groupName(rbac, vocabularyOf(options));
  const apiVersion = `${group}/v1`;
  return {
    path: `/apis/${apiVersion}/namespaces/${namespace}/rolebindings`,
    binding: {
      apiVersion,
      kind: "RoleBinding",
      metadata: { name: "grant" },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "User", apiGroup: group, name: otherUser }],
    },
  };
}
