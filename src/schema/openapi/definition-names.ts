import { metaGroup } from "../meta.ts";
import type { GroupVersion } from "../types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** The beginning of the names of the definitions that belong together, with its last dot. */
export type DefinitionPrefix = string;

/** The packages whose definitions aren't named after the first word of their group. */
const packages: Readonly<Record<string, (vocabulary: Vocabulary) => string>> = {
  "": () => "api.core",
  "internal.apiserver": () => "api.apiserverinternal",
  apiextensions: () => "apiextensions-apiserver.pkg.apis.apiextensions",
  apiregistration: ({ components }) => `${components.aggregator}.pkg.apis.apiregistration`,
};

/** Names the definitions of structs, after the group version in which each is declared. */
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
    // Groups of others have names of their own, as those of custom resources: `com.example.shop.v1.Order`.
    if (!group.suffixed && group.base.includes("."))
      return `${group.base.split(".").toReversed().join(".")}.${version}.`;
    const place = packages[group.base]?.(this.vocabulary) ?? `api.${group.base.split(".")[0]}`;
    return `${this.root}.${place}.${version}.`;
  }

  /** A name in the library that all groups share: `machinery("util.intstr.IntOrString")`. */
  machinery(rest: string): string {
    return `${this.root}.apimachinery.pkg.${rest}`;
  }
}
