import {
  compileLabelSelector,
  type LabelMatcher,
  type LabelSelectorObject,
} from "../../base/label-selector.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import { StatusError } from "../../base/status-error.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { FollowedObjects, NamespaceFacts } from "../followed-objects.ts";

/** The label selectors of a webhook or policy; undefined selects everything. */
export interface Selectors {
  readonly namespaces: LabelMatcher | undefined;
  readonly objects: LabelMatcher | undefined;
}

/**
 * Compiles the selectors of a webhook or policy. An absent or empty one selects everything.
 *
 * @throws {StatusError} BadRequest for a selector that validation would have refused.
 */
export function compileSelectors(given: {
  readonly namespaceSelector?: LabelSelectorObject | null | undefined;
  readonly objectSelector?: LabelSelectorObject | null | undefined;
}): Selectors {
  return { namespaces: compiled(given.namespaceSelector), objects: compiled(given.objectSelector) };
}

function compiled(selector: LabelSelectorObject | null | undefined): LabelMatcher | undefined {
  if (selector === undefined || selector === null) return undefined;
  const { matchLabels, matchExpressions } = selector;
  if (Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0) return undefined;
  return compileLabelSelector(selector);
}

/** What the selectors look at. */
export type SelectedRequest = Pick<AdmissionRequest, "operation" | "target" | "object" | "live">;

/**
 * Whether the selectors select a request.
 *
 * The namespace selector looks at the labels of the object's namespace; at the object's own for a Namespace, and for its
 * creation and updates at the new ones. Other cluster-scoped objects are always selected. The object selector looks at the
 * new object and at the old one, of which one must match; what has no labels, such as the options of a connection, doesn't.
 *
 * @throws {StatusError} NotFound, the namespace doesn't exist; what the index of namespaces throws.
 */
export function selects(
  { namespaces, objects }: Selectors,
  request: SelectedRequest,
  known: FollowedObjects<NamespaceFacts>,
): MaybePromise<boolean> {
  if (objects !== undefined && !objectSelected(objects, request)) return false;
  return namespaces === undefined || namespaceSelected(namespaces, request, known);
}

function objectSelected(matches: LabelMatcher, { object, live }: SelectedRequest): boolean {
  return labelsMatch(matches, object) || labelsMatch(matches, live);
}

function labelsMatch(matches: LabelMatcher, object: ApiObject | undefined): boolean {
  // Options of connections have no metadata.
  const metadata = object?.metadata as ApiObject["metadata"] | undefined;
  return metadata !== undefined && matches(metadata.labels);
}

function namespaceSelected(
  matches: LabelMatcher,
  { operation, target, object }: SelectedRequest,
  known: FollowedObjects<NamespaceFacts>,
): MaybePromise<boolean> {
  const isNamespace = target.resource.stored.kind === Namespace;
  if (isNamespace && target.subresource === "" && (operation === "CREATE" || operation === "UPDATE")) {
    return matches(object?.metadata.labels);
  }
  const name = isNamespace ? target.name : target.namespace;
  if (name === "") return true;
  return andThen(known.get("", name), (facts) => {
    if (facts === undefined) {
      const details = { name, kind: "namespaces" };
      throw new StatusError("NotFound", `namespaces ${JSON.stringify(name)} not found`, details);
    }
    return matches(facts.labels);
  });
}
