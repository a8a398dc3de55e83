/** A resource type of the server, as in discovery. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural name in paths. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly subresources: readonly string[];
}

/** A document of `/api/v1` or `/apis/GROUP/VERSION`. */
export interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
    readonly shortNames?: readonly string[];
  }[];
}

/**
 * Returns the resource types of discovery documents that can be listed or created. A type in several versions has that of the first
 * document.
 */
export function typesOf(lists: readonly ResourceList[]): ResourceType[] {
  const types = new Map<string, ResourceType>();
  for (const { groupVersion, resources } of lists) {
    const [group, version] = groupVersion.includes("/")
      ? (groupVersion.split("/", 2) as [string, string])
      : ["", groupVersion];
    for (const { name, kind, namespaced, verbs, shortNames = [] } of resources) {
      const key = `${group}/${name}`;
      if (name.includes("/") || types.has(key)) continue;
      const subresources = resources
        .filter((one) => one.name.startsWith(`${name}/`))
        .map((one) => one.name.slice(name.length + 1));
      types.set(key, { group, version, name, kind, namespaced, verbs, shortNames, subresources });
    }
  }
  return [...types.values()];
}

export function isBrowsable({ verbs }: ResourceType): boolean {
  return verbs.includes("list");
}

/** `deployments.apps`, or `pods` for the core group. */
export function fullName({ group, name }: Pick<ResourceType, "group" | "name">): string {
  return group === "" ? name : `${name}.${group}`;
}

export function apiVersionOf({ group, version }: Pick<ResourceType, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Returns the path of a collection, or of an object if there is a name; all namespaces if `namespace` is empty. */
export function pathOf(type: ResourceType, namespace: string, name = "", subresource = ""): string {
  const base = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = type.namespaced && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const object = name === "" ? "" : `/${encodeURIComponent(name)}`;
  return `${base}${scope}/${type.name}${object}${subresource === "" ? "" : `/${subresource}`}`;
}

/** Groups in the order of the sidebar: core first, then short names before those with a domain. */
export function byGroup(types: readonly ResourceType[]): [string, ResourceType[]][] {
  const groups = new Map<string, ResourceType[]>();
  for (const type of types) {
    const list = groups.get(type.group);
    if (list === undefined) groups.set(type.group, [type]);
    else list.push(type);
  }
  const rank = (group: string) => (group === "" ? 0 : group.includes(".") ? 2 : 1);
  return [...groups.entries()]
    .map(([group, list]): [string, ResourceType[]] => [
      group,
      list.toSorted((one, other) => (one.kind < other.kind ? -1 : 1)),
    ])
    .toSorted(([one], [other]) => rank(one) - rank(other) || (one < other ? -1 : 1));
}

/**
 * Returns the types that a typed word may mean, best matches first: an exact short name or name, a name that begins with the word, one
 * that contains it, then one that contains its letters in order.
 */
export function matchingTypes(types: readonly ResourceType[], word: string): ResourceType[] {
  const lower = word.trim().toLowerCase();
  const scored = types.map((type) => ({ type, score: scoreOf(type, lower) }));
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score || one.type.name.length - other.type.name.length)
    .map(({ type }) => type);
}

function scoreOf(type: ResourceType, word: string): number {
  if (word === "") return 1;
  const names = [type.name, type.kind.toLowerCase(), fullName(type)];
  if (type.shortNames.includes(word) || names.includes(word)) return 5;
  if (names.some((name) => name.startsWith(word))) return 4;
  if (names.some((name) => name.includes(word))) return 3;
  return containsLetters(type.name, word) ? 2 : 0;
}

function containsLetters(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
