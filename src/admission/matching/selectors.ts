import {
  compileLabelSelector,
  type LabelMatcher,
  type LabelSelectorObject,
} from "../../base/selectors/label-selector.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import { StatusError } from "../../base/status-error.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { declarationOf, type ApiObject } from "../../schema/kind.ts";
import type { FollowedObjects, NamespaceFacts } from "../followed-objects.ts";

/** The label selectors of a webhook or policy; undefined selects everything. */
export interface Selectors {
  readonly namespaces: LabelMatcher | undefined;
  readonly objects: LabelMatcher | undefined;
}

/**
 * Compiles the selectors of a webhook or policy. An absent or empty selector selects everything.
 *
 * @throws {StatusError} BadRequest: a selector is invalid.
 */
export function compileSelectors(selectors: {
  readonly namespaceSelector?: LabelSelectorObject | null | undefined;
  readonly objectSelector?: LabelSelectorObject | null | undefined;
}): Selectors {
  return { namespaces: compiled(selectors.namespaceSelector), objects: compiled(selectors.objectSelector) };
}

function compiled(selector: LabelSelectorObject | null | undefined): LabelMatcher | undefined {
  if (selector === undefined || selector === null) return undefined;
  const { matchLabels, matchExpressions } = selector;
  if (Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0) return undefined;
  return compileLabelSelector(selector);
}

/** The attributes of a request that selectors read. */
export type SelectedRequest = Pick<AdmissionRequest, "operation" | "target" | "object" | "live" | "staged">;

/**
 * Whether the selectors select a request.
 *
 * The namespace selector matches the labels of the namespace of the object; for a Namespace its own labels, in a create or update
 * the new ones. Other cluster-scoped objects are always selected. The object selector must match the new or the old object;
 * objects without metadata, such as the options of a connection, aren't selected.
 *
 * @param index the namespaces.
 * @throws {StatusError} NotFound: the namespace doesn't exist.
 * @throws {StoreUnavailableError} the namespaces can't be read.
 */
export function selects(
  { namespaces, objects }: Selectors,
  request: SelectedRequest,
  index: FollowedObjects<NamespaceFacts>,
): MaybePromise<boolean> {
  if (objects !== undefined && !objectSelected(objects, request)) return false;
  return namespaces === undefined || namespaceSelected(namespaces, request, index);
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
  { operation, target, object, staged }: SelectedRequest,
  index: FollowedObjects<NamespaceFacts>,
): MaybePromise<boolean> {
  const isNamespace = declarationOf(target.resource.stored.kind) === Namespace;
  if (isNamespace && target.subresource === "" && (operation === "CREATE" || operation === "UPDATE")) {
    return matches(object?.metadata.labels);
  }
  const name = isNamespace ? target.name : target.namespace;
  if (name === "") return true;
  return andThen(index.get("", name, staged), (facts) => {
    if (facts === undefined) {
      const details = { name, kind: "namespaces" };
      throw new StatusError("NotFound", `namespaces ${JSON.stringify(name)} not found`, details);
    }
    return matches(facts.labels);
  });
}
