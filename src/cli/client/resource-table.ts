import type { ServerClient } from "./server-client.ts";

/** A resource type of the discovery documents. */
export interface KnownResource {
  readonly group: string;
  /** Preferred version of the group: `v1`, `apps/v1`. */
  readonly groupVersion: string;
  readonly name: string;
  /** Singular in camel case: `ConfigMap`. */
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** A resource type as named on the command line. */
export interface NamedResource {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Undefined if the server doesn't serve it. */
  readonly known: KnownResource | undefined;
}

interface GroupList {
  readonly groups: readonly {
    readonly name: string;
    readonly preferredVersion: { readonly groupVersion: string };
  }[];
}
interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly (Omit<KnownResource, "group" | "groupVersion" | "shortNames"> & {
    readonly shortNames?: readonly string[];
  })[];
}

/** The resource types that a server serves, in the preferred version of each group; core first. */
export class ResourceTable {
  private constructor(
    readonly resources: readonly KnownResource[],
    private readonly groups: readonly string[],
  ) {}

  /**
   * Reads the discovery documents.
   *
   * @throws {ClientError}
   */
  static async read(client: ServerClient): Promise<ResourceTable> {
    const { groups } = (await client.get("/apis")) as unknown as GroupList;
    const paths = [
      "/api/v1",
      ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
    ];
    const lists = (await Promise.all(paths.map((path) => client.get(path)))) as unknown as ResourceList[];
    const all = lists.flatMap(({ groupVersion, resources }) => {
      const group = groupVersion.includes("/") ? groupVersion.split("/")[0]! : "";
      return resources.map(({ shortNames = [], ...rest }) => ({ ...rest, shortNames, group, groupVersion }));
    });
    return new ResourceTable(
      all.filter(({ name }) => !name.includes("/")),
      groups.map(({ name }) => name),
    );
  }

  /** Returns the resource type of a kind, in the preferred version of its group; undefined if it isn't served. */
  ofKind(apiVersion: string, kind: string): KnownResource | undefined {
    const group = apiVersion.includes("/") ? apiVersion.split("/", 1)[0] : "";
    return this.resources.find((one) => one.kind === kind && one.group === group);
  }

  /** Returns the full name of the group that begins with this word and a dot. */
  groupCalled(word: string): string | undefined {
    return this.groups.find((name) => name.startsWith(`${word}.`));
  }

  /**
   * Finds a resource type by a name such as `pods`, `po`, `pods/log`, `deployments.apps` or `*`. Names that aren't
   * served are returned as they are.
   */
  find(word: string): NamedResource {
    const slash = word.indexOf("/");
    const whole = slash === -1 ? word : word.slice(0, slash);
    const subresource = slash === -1 ? "" : word.slice(slash + 1);
    const dot = whole.indexOf(".");
    const name = dot === -1 ? whole : whole.slice(0, dot);
    const group = dot === -1 ? undefined : whole.slice(dot + 1);
    const known = this.resources.find(
      (one) => isCalled(one, name) && (group === undefined || isGroup(one.group, group)),
    );
    if (known !== undefined) return { group: known.group, resource: known.name, subresource, known };
    return { group: group ?? (name === "*" ? "*" : ""), resource: name, subresource, known };
  }
}

function isCalled({ name, kind, shortNames }: KnownResource, word: string): boolean {
  const lower = word.toLowerCase();
  return lower === name || lower === kind.toLowerCase() || shortNames.includes(lower);
}

function isGroup(group: string, word: string): boolean {
  return group === word || group.startsWith(`${word}.`);
}
