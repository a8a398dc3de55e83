import { objectAs } from "../../schema/api-object.ts";
import { accessFlags, accessOf } from "../client/access-flags.ts";
import { ClientError } from "../client/client-error.ts";
import { ResourceTable, type KnownResource } from "../client/resource-table.ts";
import { ServerClient, type Answer } from "../client/server-client.ts";
import { helpText, type Command } from "../command.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";

const about = `Stores objects again that aren't in the current form: encrypted with an older key or not at all, or in an older
version of their kind. Each object gets an empty patch; the server writes those that are outdated, and no others.

  plinth rewrite [RESOURCE...]   RESOURCE is a name such as secrets or deployments.apps; by default all resources`;

/** Number of objects of a page, and of patches that are sent at once. */
const pageSize = 500;
const concurrency = 8;
/** Number of times that the list of a resource begins again because it took longer than the history is retained. */
const maxRestarts = 20;
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
      for (const resource of await chosenResources(client, names)) {
        // A resource that the user may not list doesn't keep the others from being rewritten.
        await counts.collect(() => rewriteResource(client, resource, counts));
      }
      return counts.report();
    } finally {
      client.close();
    }
  },
};

/** Objects by what happened to them. */
class RewriteCounts {
  private objects = 0;
  private written = 0;
  private failed = 0;
  /** The messages of the first failures. */
  private readonly messages: string[] = [];

  add(written: boolean): void {
    this.objects++;
    if (written) this.written++;
  }

  /** Counts the failure of a step. */
  async collect(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.fail(error);
    }
  }

  private fail(error: ClientError): void {
    this.failed++;
    if (this.messages.length < maxShown) this.messages.push(error.message);
  }

  /** Writes the result and returns the exit code. */
  report(): number {
    const { objects, written, failed, messages } = this;
    process.stdout.write(`${objects} objects, ${written} stored again, ${failed} failed\n`);
    for (const message of messages) process.stderr.write(`plinth: ${message}\n`);
    if (failed > messages.length)
      process.stderr.write(`plinth: and ${failed - messages.length} more failures\n`);
    return failed === 0 ? 0 : 1;
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
  const path = `${root}/${name}?limit=${pageSize}`;
  let token: string | undefined = "";
  let restarts = 0;
  while (token !== undefined) {
    const page: Answer | undefined = await pageOf(client, path, token);
    if (page === undefined) {
      // The objects so far are stored again already, which makes the next attempt shorter.
      if (++restarts > maxRestarts) throw new ClientError(`the list of ${name} expires before its end`);
      token = "";
      continue;
    }
    await rewritePage(
      client,
      { root, name, items: (page["items"] ?? []) as readonly ListedObject[] },
      counts,
    );
    token = continueOf(page);
  }
}

/** Objects of a resource, and the path of its group version. */
interface ListedPage {
  readonly root: string;
  readonly name: string;
  readonly items: readonly ListedObject[];
}

async function rewritePage(
  client: ServerClient,
  { root, name, items }: ListedPage,
  counts: RewriteCounts,
): Promise<void> {
  const pending = [...items];
  const work = async (): Promise<void> => {
    for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
      const { namespace, name: objectName } = one.metadata;
      const within = namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
      await rewriteObject(client, `${root}${within}/${name}/${encodeURIComponent(objectName)}`, one, counts);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

/** Lists the page of a token; undefined if the revision of the list is no longer retained. */
async function pageOf(client: ServerClient, path: string, token: string): Promise<Answer | undefined> {
  try {
    return await client.listMetadata(`${path}&continue=${encodeURIComponent(token)}`);
  } catch (error) {
    if (error instanceof ClientError && error.status === 410) return undefined;
    throw error;
  }
}

function continueOf({ metadata }: Answer): string | undefined {
  const { continue: token = "" } = (metadata ?? {}) as { readonly continue?: string };
  return token === "" ? undefined : token;
}

async function rewriteObject(
  client: ServerClient,
  path: string,
  { metadata }: ListedObject,
  counts: RewriteCounts,
): Promise<void> {
  await counts.collect(async () => {
    const answer = await client.mergePatch(path, {});
    // An object that was deleted meanwhile needs nothing.
    if (answer === undefined) return;
    const { resourceVersion } = objectAs<ListedObject>(answer).metadata;
    counts.add(resourceVersion !== metadata.resourceVersion);
  });
}
