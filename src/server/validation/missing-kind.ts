import type { JsonObject } from "../../base/json/value.ts";
import { isLater, type Release } from "../../base/releases.ts";
import { groupName } from "../../schema/kind.ts";
import { lifeCycles } from "../../kinds/life-cycle-table.ts";
import { groupHint } from "../../vocabulary/other-vocabulary.ts";
import { apiVersionOf } from "../../base/object-errors.ts";
import { similarName } from "../../base/similar-name.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { nameOf } from "./documents.ts";
import type { Finding } from "./problem.ts";

/**
 * Returns the problem of an object whose kind a release doesn't serve, with what to do about it.
 *
 * @param hasDefinition whether the manifests have a definition of the kind.
 */
export function missingKind(
  object: JsonObject,
  release: Release,
  vocabulary: Vocabulary,
  hasDefinition: boolean,
): Finding {
  const { apiVersion, kind } = nameOf(object);
  const message = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`;
  const hint = hintFor(nameOf(object), release, vocabulary, hasDefinition);
  return { severity: "error", rule: "kind", field: "apiVersion", message: `${message}${hint}` };
}

function hintFor(
  { apiVersion, group, kind }: ReturnType<typeof nameOf>,
  release: Release,
  vocabulary: Vocabulary,
  hasDefinition: boolean,
): string {
  if (hasDefinition) return ": its definition doesn't serve this version, or is not accepted";
  const versionOf = (one: (typeof lifeCycles)[number]) =>
    apiVersionOf(groupName(one.group, vocabulary), one.version);
  const cycle = lifeCycles.find((one) => one.kind === kind && versionOf(one) === apiVersion);
  if (cycle !== undefined) {
    const { introduced, removed, replacement } = cycle;
    const current =
      replacement === undefined
        ? lifeCycles.findLast(
            (one) => one.kind === kind && one.group.base === cycle.group.base && isServed(one, release),
          )
        : undefined;
    const use = replacement ?? current;
    const instead =
      use === undefined
        ? ""
        : `; use ${apiVersionOf(groupName(use.group, vocabulary), use.version)} ${cycle.replacementKind ?? kind}`;
    if (removed !== undefined && !isLater(removed, release)) return `: removed in ${removed}${instead}`;
    if (isLater(introduced, release)) return `: served from release ${introduced} on`;
    return ": the release doesn't serve it by default";
  }
  const others = lifeCycles.filter((one) => groupName(one.group, vocabulary) === group);
  if (others.length === 0) {
    const other = groupHint(group, vocabulary);
    return other === "" ? ": there is no CustomResourceDefinition of it" : other;
  }
  const served = others.filter((one) => isServed(one, release));
  const same = served.find((one) => one.kind === kind);
  if (same !== undefined) return `: did you mean ${versionOf(same)}?`;
  const similar = similarName(kind, [...new Set(served.map((one) => one.kind))]);
  return similar === undefined ? `: the group has no such kind in ${release}` : `: did you mean ${similar}?`;
}

function isServed({ introduced, removed }: (typeof lifeCycles)[number], release: Release): boolean {
  return !isLater(introduced, release) && (removed === undefined || isLater(removed, release));
}
