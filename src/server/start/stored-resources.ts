import { similarName } from "../../base/similar-name.ts";
import { builtInKinds } from "../../kinds/all.ts";
import { isStored, resourceOf, storePrefixOf, type Resource } from "../../resources/registry/registry.ts";
import type { Kind } from "../../schema/kind.ts";
import { vocabularyNaming } from "../../vocabulary/other-vocabulary.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { OptionsError } from "../options/options-error.ts";

/** A rule `RESOURCE[.GROUP]=VALUE` of an option. */
export interface ResourceRule {
  /** The whole text. */
  readonly rule: string;
  /** Store prefix of the resource, or `*`. */
  readonly prefix: string;
  readonly value: string;
}

/** The resource types that the rules of an option can name. */
export class StoredResources {
  /** The stored resource types of built-in kinds and those of the embedding program. */
  readonly resources: readonly Resource[];

  /** @param flag precedes messages. */
  constructor(
    private readonly flag: string,
    vocabulary: Vocabulary,
    kinds: readonly Kind[] = [],
  ) {
    this.resources = [...builtInKinds, ...kinds].map((kind) => resourceOf(kind, vocabulary)).filter(isStored);
  }

  /**
   * Parses rules `RESOURCE[.GROUP]=VALUE`. Each resource may have one.
   *
   * @param form describes a rule, for messages.
   * @param any whether `*` is allowed for the resource.
   * @throws {OptionsError} a rule is malformed, or names an unknown resource or one that has a rule.
   */
  rules(rules: readonly string[], form: string, any = false): readonly ResourceRule[] {
    const prefixes = new Set<string>();
    return rules.map((rule) => {
      const separator = rule.indexOf("=");
      if (separator < 0) throw new OptionsError(`${this.flag}: ${JSON.stringify(rule)} is not ${form}`);
      const name = rule.slice(0, separator);
      const prefix = any && name === "*" ? name : this.prefixOf(name);
      if (prefixes.has(prefix)) throw new OptionsError(`${this.flag}: ${name} is given twice`);
      prefixes.add(prefix);
      return { rule, prefix, value: rule.slice(separator + 1) };
    });
  }

  private prefixOf(name: string): string {
    const { flag, resources } = this;
    const dot = name.indexOf(".");
    const matches = resources.filter(
      (one) => one.name === name || (one.group !== "" && `${one.name}.${one.group}` === name),
    );
    const prefixes = new Set(matches.map((one) => one.stored.storePrefix));
    const [first] = prefixes;
    if (prefixes.size > 1)
      throw new OptionsError(
        `${flag}: ${name} is ambiguous; write ${matches.map((one) => `${one.name}.${one.group}`).join(" or ")}`,
      );
    if (first !== undefined) return first;
    const group = dot < 0 ? "" : name.slice(dot + 1);
    const isCustom =
      dot > 0 &&
      group !== "" &&
      vocabularyNaming(group) === undefined &&
      resources.every((one) => one.group !== group);
    // The definitions of custom resources aren't known yet.
    if (isCustom) return storePrefixOf(group, name.slice(0, dot));
    const similar = similarName(
      name,
      resources.flatMap((one) => [one.name, `${one.name}.${one.group}`]),
    );
    const hint = similar === undefined ? "" : `; did you mean ${similar}?`;
    throw new OptionsError(`${flag}: no resource is named ${JSON.stringify(name)}${hint}`);
  }
}
