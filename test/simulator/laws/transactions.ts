import type { ApiObject } from "../../../src/schema/kind.ts";
import { ApiClient } from "../clients/api-client.ts";
import { workNamespace, workPrefix } from "../clients/writer.ts";
import type { Change } from "../history/history.ts";
import type { World } from "../world.ts";

/** Start of the names of the objects that only transactions write. */
export const jointName = "joint-";
const law = "transactions are whole";
const jointPrefix = `${workPrefix}${jointName}`;
/** Number of the newest versions of an object whose authors are compared. */
const comparedVersions = 100;

/** What was sent and executed of the transactions of all clients. */
export class Transactions {
  /** Number of objects of each transaction that was sent. */
  private readonly counts = new Map<string, number>();
  /** The changes of the objects that only transactions write, by revision. */
  private readonly changes = new Map<number, Change[]>();

  constructor(private readonly world: World) {
    world.history.listen((change) => {
      if (!change.key.startsWith(jointPrefix)) return;
      const others = this.changes.get(change.revision);
      if (others === undefined) this.changes.set(change.revision, [change]);
      else others.push(change);
    });
  }

  /** A client sends a transaction that writes a number of objects, with this token in each that it doesn't delete. */
  sent(token: string, count: number): void {
    this.counts.set(token, count);
  }

  /** A client has got an answer to a transaction. */
  acknowledged(token: string, keys: readonly string[], revision: number, server: string): void {
    const changed = (this.changes.get(revision) ?? []).map(({ key }) => key).toSorted();
    if (changed.join() !== keys.toSorted().join())
      this.world.violations.add(
        law,
        `${token} at ${revision}, acknowledged by ${server}, wrote ${changed.join(", ")} instead of ${keys.join(", ")}`,
      );
  }

  /** Checks that each revision has all changes of one transaction, which no other revision has. */
  check(): void {
    const revisions = new Map<string, number>();
    for (const [revision, changes] of this.changes) {
      const tokens = new Set(changes.flatMap((change) => (change.isDeletion ? [] : tokenOf(change.object))));
      const [token] = tokens;
      const count = token === undefined ? changes.length : this.counts.get(token);
      const earlier = token === undefined ? undefined : revisions.get(token);
      if (token !== undefined) revisions.set(token, revision);
      if (tokens.size <= 1 && count === changes.length && earlier === undefined) continue;
      this.world.violations.add(
        law,
        `revision ${revision} has ${changes.length} changes of ${[...tokens].join(", ")} with ${count} objects, also at ${earlier}`,
      );
    }
  }
}

function tokenOf(object: ApiObject): string {
  return (object as { readonly data?: Readonly<Record<string, string>> }).data?.["transaction"] ?? "none";
}

/** Follows the transactions of all clients. */
export function checkTransactions(world: World): Transactions {
  return new Transactions(world);
}

interface Version {
  readonly metadata: { readonly resourceVersion: string };
  readonly user?: string;
  readonly auditID?: string;
}

/** Checks that the kept history has each version of the objects of transactions, with one author for each transaction. */
export async function checkAuthors(world: World): Promise<void> {
  if (!world.keepsHistory) return;
  const fail = (text: string): void => world.violations.add("history names the authors", text);
  const audits = new Map<number, string>();
  const keys = new Set(world.history.changes(workPrefix, 0, world.history.revision).map(({ key }) => key));
  for (const key of [...keys].filter((one) => one.startsWith(jointPrefix)).toSorted()) {
    const client = new ApiClient(world, `last-historian ${key}`);
    const path = `/api/v1/namespaces/${workNamespace}/configmaps/${key.slice(workPrefix.length)}/history`;
    const answer = await client.request("GET", `${path}?limit=${comparedVersions}`);
    if (answer?.status !== 200) {
      fail(`${path} is answered with ${answer?.status} ${answer?.text}`);
      continue;
    }
    const { items } = JSON.parse(answer.text) as { readonly items: readonly Version[] };
    const expected = world.history.changesOf(key).slice(-comparedVersions).toReversed();
    const actual = items.map(({ metadata }) => Number(metadata.resourceVersion));
    if (actual.join() !== expected.map(({ revision }) => revision).join())
      fail(
        `${key} has the versions ${actual.join()} instead of ${expected.map((one) => one.revision).join()}`,
      );
    for (const { metadata, user, auditID = "" } of items) {
      const revision = Number(metadata.resourceVersion);
      const other = audits.get(revision) ?? auditID;
      audits.set(revision, auditID);
      if (user !== "simulated" || auditID === "" || other !== auditID)
        fail(`${key} at ${revision} is by ${user} with the audit ID ${auditID}; another object has ${other}`);
    }
  }
}
