import type { Group, Kind } from "../kind.ts";
import type { StructType, Type } from "../types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** The beginning of the names of the definitions that belong together, with its last dot. */
export type Home = string;

/** The packages whose definitions aren't named after the first word of their group. */
const packages: Readonly<Record<string, (vocabulary: Vocabulary) => string>> = {
  "": () => "api.core",
  "internal.apiserver": () => "api.apiserverinternal",
  apiextensions: () => "apiextensions-apiserver.pkg.apis.apiextensions",
  apiregistration: ({ components }) => `${components.aggregator}.pkg.apis.apiregistration`,
};

/**
 * Names the definitions of structs. A declaration doesn't say in which package it belongs; that follows from where it
 * is used: what the shared metadata reaches is of the meta package, what a kind of the core group reaches is of the
 * core package, and everything else is of the group version that refers to it.
 */
export class DefinitionNames {
  private readonly root: string;
  private readonly meta: ReadonlySet<StructType>;
  private readonly core: ReadonlySet<StructType>;
  private readonly kinds = new Map<StructType, Home>();
  /** Home of the shared metadata types. */
  readonly metaHome: Home;

  /**
   * @param kinds every kind that is described.
   * @param metaTypes types that belong to no group.
   */
  constructor(
    kinds: readonly Kind[],
    metaTypes: readonly StructType[],
    private readonly vocabulary: Vocabulary,
  ) {
    this.root = vocabulary.groupSuffix.split(".").toReversed().join(".");
    this.metaHome = this.machinery("apis.meta.v1.");
    this.meta = reachable(metaTypes);
    this.core = reachable(kinds.filter((kind) => kind.group.base === "").map((kind) => kind.type));
    for (const kind of kinds) this.kinds.set(kind.type, this.homeOf(kind.group, kind.version));
  }

  /** The home of a group version's own definitions. */
  homeOf(group: Group, version: string): Home {
    const place = packages[group.base]?.(this.vocabulary) ?? `api.${group.base.split(".")[0]}`;
    return `${this.root}.${place}.${version}.`;
  }

  /** The home of a struct that a definition of the home `from` refers to. */
  homeOfStruct(type: StructType, from: Home): Home {
    if (this.meta.has(type)) return this.metaHome;
    const own = this.kinds.get(type);
    if (own !== undefined) return own;
    return this.core.has(type) ? this.homeOf({ base: "", suffixed: false }, "v1") : from;
  }

  /** A name in the library that all groups share: `machinery("util.intstr.IntOrString")`. */
  machinery(rest: string): string {
    return `${this.root}.apimachinery.pkg.${rest}`;
  }
}

function reachable(types: readonly StructType[]): ReadonlySet<StructType> {
  const found = new Set<StructType>();
  const visit = (type: Type): void => {
    if (type.shape === "list") return visit(type.element);
    if (type.shape === "map") return visit(type.value);
    if (type.shape !== "struct" || found.has(type)) return;
    found.add(type);
    for (const field of Object.values(type.fields)) visit(field.type);
  };
  for (const type of types) visit(type);
  return found;
}
