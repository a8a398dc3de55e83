import { metaGroup } from "../meta.ts";
import type { GroupVersion } from "../types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Prefix of the names of the definitions of one group version, with trailing dot. */
export type DefinitionPrefix = string;

/** Packages by group, if they aren't `api.` and the first label of the group. */
const packages: Readonly<Record<string, (vocabulary: Vocabulary) => string>> = {
  "": () => "api.core",
  "internal.apiserver": () => "api.apiserverinternal",
  apiextensions: () => "apiextensions-apiserver.pkg.apis.apiextensions",
  apiregistration: ({ components }) => `${components.aggregator}.pkg.apis.apiregistration`,
};

/** Returns the names of definitions, by the group version of each struct. */
export class DefinitionNames {
  private readonly root: string;
  /** Prefix of the shared metadata types. */
  readonly metaPrefix: DefinitionPrefix;

  constructor(private readonly vocabulary: Vocabulary) {
    this.root = vocabulary.groupSuffix.split(".").toReversed().join(".");
    this.metaPrefix = this.machinery("apis.meta.v1.");
  }

  /** The prefix of the definitions of a group version. */
  prefixOf({ group, version }: GroupVersion): DefinitionPrefix {
    if (group.base === metaGroup.base) return this.machinery(`apis.meta.${version}.`);
    // Custom resources have the reversed group: `com.example.shop.v1.Order`.
    if (!group.suffixed && group.base.includes("."))
      return `${group.base.split(".").toReversed().join(".")}.${version}.`;
    const packageName = packages[group.base]?.(this.vocabulary) ?? `api.${group.base.split(".")[0]}`;
    return `${this.root}.${packageName}.${version}.`;
  }

  /** Returns a name in apimachinery: `machinery("util.intstr.IntOrString")`. */
  machinery(rest: string): string {
    return `${this.root}.apimachinery.pkg.${rest}`;
  }
}
