import { accessFlags, accessOf } from "./client/access-flags.ts";
import { ClientError } from "./client/client-error.ts";
import { ResourceTable, type KnownResource } from "./client/resource-table.ts";
import { ServerClient } from "./client/server-client.ts";
import { helpText, type Command } from "./command.ts";
import { FlagReader, parseFlags, UsageError } from "./flag-reader.ts";

const about = `Stores objects again that aren't in the current form: encrypted with an older key or not at all, or in an older
version of their kind. Each object gets an empty patch; the server writes those that are outdated, and no others.

  plinth rewrite [RESOURCE...]   RESOURCE is a name such as secrets or deployments.apps; by default all resources`;

/** Number of objects of a page, and of patches that are sent at once. */
const pageSize = 500;
const concurrency = 8;
/** Number of failures that are shown. */
const maxShown = 10;

export const rewriteCommand: Command = {
  flags: accessFlags,
  help: () => helpText("plinth rewrite [RESOURCE...] [FLAGS]", about, accessFlags),
  async run(words) {
    const names: string[] = [];
    const read = new FlagReader(accessFlags, parseFlags(accessFlags, words, names));
    const client = new ServerClient(await accessOf(read, process.env));
    try {
      const counts = new RewriteCounts();
      for (const resource of await chosenResources(client, names))
        await rewriteResource(client, resource, counts);
      return counts.report();
    } finally {
      client.close();
    }
  },
};

/** Objects by what happened to them. */
class RewriteCounts {
  private read = 0;
  private written = 0;
  private readonly failures: string[] = [];

  add(written: boolean): void {
    this.read++;
    if (written) this.written++;
  }

  fail(error: ClientError): void {
    this.read++;
    this.failures.push(error.message);
  }

  /** Writes the result and returns the exit code. */
  report(): number {
    const { read, written, failures } = this;
    process.stdout.write(`${read} objects read, ${written} stored again, ${failures.length} failed\n`);
    for (const message of failures.slice(0, maxShown)) process.stderr.write(`plinth: ${message}\n`);
    if (failures.length > maxShown)
      process.stderr.write(`plinth: and ${failures.length - maxShown} more failures\n`);
    return failures.length === 0 ? 0 : 1;
  }
}

async function chosenResources(
  client: ServerClient,
  names: readonly string[],
): Promise<readonly KnownResource[]> {
  const table = await ResourceTable.read(client);
  const isRewritable = ({ verbs }: KnownResource) => verbs.includes("list") && verbs.includes("patch");
  if (names.length === 0) return table.resources.filter(isRewritable);
  return names.map((name) => {
    const { known, subresource } = table.find(name);
    if (known === undefined || subresource !== "" || !isRewritable(known))
      throw new UsageError(`${JSON.stringify(name)} is no resource that can be listed and patched`);
    return known;
  });
}

/** Metadata of a listed object. */
interface ListedObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion: string;
  };
}

async function rewriteResource(
  client: ServerClient,
  { groupVersion, name }: KnownResource,
  counts: RewriteCounts,
): Promise<void> {
  const root = groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
  let token: string | undefined = "";
  while (token !== undefined) {
    const page: Awaited<ReturnType<ServerClient["listMetadata"]>> = await client.listMetadata(
      `${root}/${name}?limit=${pageSize}&continue=${encodeURIComponent(token)}`,
    );
    const items = (page["items"] ?? []) as readonly ListedObject[];
    const pending = [...items];
    const work = async (): Promise<void> => {
      for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
        const { namespace, name: objectName } = one.metadata;
        const within = namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
        await rewriteObject(
          client,
          `${root}${within}/${name}/${encodeURIComponent(objectName)}`,
          one,
          counts,
        );
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    const next = (page["metadata"] as { readonly continue?: string }).continue;
    token = next === "" ? undefined : next;
  }
}

async function rewriteObject(
  client: ServerClient,
  path: string,
  { metadata }: ListedObject,
  counts: RewriteCounts,
): Promise<void> {
  try {
    const answer = await client.mergePatch(path, {});
    // An object that was deleted meanwhile needs nothing.
    if (answer === undefined) return;
    const { resourceVersion } = (answer as unknown as ListedObject).metadata;
    counts.add(resourceVersion !== metadata.resourceVersion);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    counts.fail(error);
  }
}
