import type { JsonDocument } from "../../base/json/exact.ts";
import { getMember, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { encodeManagedFields } from "../../fields/apply/managed-fields.ts";
import { managerId } from "../../fields/apply/manager.ts";
import { applySteps, type Versions } from "../../fields/apply/ownership.ts";
import { shapeOfStruct } from "../../fields/apply/shape.ts";
import { ownersInView, ownersThroughView, type ViewedField } from "../../fields/apply/view-owners.ts";
import { doSteps } from "../../base/steps.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { checkPart, guarded, type ApplyOptions } from "./apply.ts";
import { type Engine, type Target, type WriteResult } from "../engine/engine.ts";
import { managerOf } from "../ownership/field-ownership.ts";
import { readObject, readPart, tell } from "../input/input.ts";
import type { LiveObject } from "../objects/live-object.ts";
import { changeThroughView, viewTarget, type ObjectView, type WrittenView } from "./view.ts";

/**
 * Applies a part of what a view of an object shows, such as its scale (spec: conventions 4.10). Who owns the fields that the
 * view changes is kept with the object: owners that applied or wrote them there conflict with the view's, and the view's
 * with them.
 *
 * @throws {StatusError} NotFound where the object isn't there: a view alone can't create it; else as `applyObject`.
 */
export async function applyView(
  engine: Engine,
  target: Target,
  view: ObjectView,
  { value, duplicates }: JsonDocument,
  options: ApplyOptions,
): Promise<WriteResult> {
  const shownAt = viewTarget(target, view);
  const { part, warnings } = readPart(shownAt, value, duplicates, options.fieldValidation);
  tell(options.report, warnings);
  const wanted = checkPart(shownAt, value, part);
  const next = (shown: ApiObject, { object: live, managed: base }: LiveObject): WrittenView => {
    const manager = managerOf(target, options, "Apply");
    const { fields } = view.subresource;
    const { apiVersion: version } = view.resource;
    const write = { manager: managerId(manager), version, force: options.force };
    const applying = applySteps(
      withEveryField(shown, live, fields),
      wanted,
      ownersInView(base.owners, fields, version),
      onlyVersion(view),
      write,
    );
    const outcome = doSteps(guarded(shownAt, applying));
    const owners = ownersThroughView(base.owners, outcome.owners, fields, manager.apiVersion);
    const { object } = readObject(engine, shownAt, outcome.object, [], "Ignore");
    if (wanted.metadata.resourceVersion === undefined) delete object.metadata.resourceVersion;
    return {
      written: object,
      managed: encodeManagedFields(owners, base, manager, engine.timestamps.now(), outcome.wrote),
    };
  };
  return changeThroughView(engine, target, view, next, options);
}

/** A view has one version, whatever that of the object. */
function onlyVersion({ resource }: ObjectView): Versions {
  return {
    shape: (version) => (version === resource.apiVersion ? shapeOfStruct(resource.kind.type) : undefined),
    convert: (object) => object,
    canonical: (object) => object,
  };
}

/** The view with its zero fields, which its JSON leaves out: applying a value that is zero already shares its ownership. */
function withEveryField(shown: ApiObject, live: ApiObject, fields: readonly ViewedField[]): unknown {
  return fields.reduce<unknown>((view, { view: path, object }) => {
    const value = object.reduce<unknown>((part, name) => memberOf(part, name), live);
    return value === undefined ? view : withField(view, path, value);
  }, shown);
}

function withField(part: unknown, [first, ...rest]: readonly string[], value: unknown): unknown {
  if (first === undefined) return value;
  return { ...(part as object | undefined), [first]: withField(memberOf(part, first), rest, value) };
}

function memberOf(part: unknown, name: string): unknown {
  return isObject(part as JsonValue) ? getMember(part as JsonObject, name) : undefined;
}
