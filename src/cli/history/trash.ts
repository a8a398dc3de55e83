import { columns } from "../auth/columns.ts";
import { ClientError } from "../client/client-error.ts";
import type { KnownResource } from "../client/resource-table.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { connected, type Connection } from "../client/connection.ts";
import { collectionPath, objectFlags, resourceCalled } from "./named-object.ts";

const about = `Lists deleted objects that plinth restore KIND NAME can bring back: of one kind, or of all kinds whose history the server keeps and
whose objects the user may list.`;

/** Every flag of `plinth trash`. */
const trashFlags: readonly Flag[] = objectFlags.map((flag) =>
  flag.name === "namespace"
    ? { ...flag, doc: "Namespace of the objects; the default is all namespaces." }
    : flag,
);

interface DeletedObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Lists deleted objects. */
export const trashCommand: Command = {
  flags: trashFlags,
  help: () => helpText("plinth trash [KIND] [FLAGS]", about, trashFlags),
  async run(words) {
    const names: string[] = [];
    const read = new FlagReader(trashFlags, parseFlags(trashFlags, words, names));
    const [kind, ...more] = names;
    if (more.length > 0)
      throw new UsageError(`plinth trash takes one KIND; ${JSON.stringify(more[0])} is left over`);
    const namespace = read.optional("namespace") ?? "";
    const rows = await connected(read, async (connection) => {
      if (kind !== undefined) return deletedOf(connection, resourceCalled(connection.table, kind), namespace);
      return deletedOfAll(connection, namespace);
    });
    process.stdout.write(
      rows.length === 0
        ? "no deleted objects\n"
        : columns(["KIND", "NAMESPACE", "NAME", "DELETED", "BY"], rows),
    );
    return 0;
  },
};

async function deletedOf(
  { client }: Connection,
  resource: KnownResource,
  namespace: string,
): Promise<string[][]> {
  const rows: string[][] = [];
  let token = "";
  do {
    const query = `?deleted=true&limit=500${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`;
    const list = await client.get(`${collectionPath(resource, namespace)}${query}`);
    const { items, metadata } = list as unknown as {
      items: DeletedObject[];
      metadata: { continue?: string };
    };
    for (const { metadata: object } of items) {
      const by = Object.entries(object.annotations ?? {}).find(([name]) =>
        /^history\.[^/]+\/deleted-by$/.test(name),
      );
      rows.push([
        resource.kind.toLowerCase(),
        object.namespace ?? "-",
        object.name,
        object.deletionTimestamp ?? "-",
        by?.[1] ?? "-",
      ]);
    }
    token = metadata.continue ?? "";
  } while (token !== "");
  return rows;
}

/** Status codes for a kind whose history isn't kept, and for one that the user may not list. */
const leftOut: ReadonlySet<number | undefined> = new Set([400, 403]);

async function deletedOfAll(connection: Connection, namespace: string): Promise<string[][]> {
  const stored = connection.table.resources.filter(
    ({ verbs, namespaced }) =>
      ["get", "list", "create"].every((verb) => verbs.includes(verb)) && (namespaced || namespace === ""),
  );
  const rows: string[][] = [];
  let isKept = false;
  for (const resource of stored) {
    try {
      rows.push(...(await deletedOf(connection, resource, namespace)));
      isKept = true;
    } catch (error) {
      if (!(error instanceof ClientError) || !leftOut.has(error.status)) throw error;
    }
  }
  if (!isKept)
    throw new ClientError(
      "the server keeps the history of no kind that you may list; see plinth serve --history-retention",
    );
  return rows;
}
