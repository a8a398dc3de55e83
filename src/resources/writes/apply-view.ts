import type { JsonDocument } from "../../base/json/exact.ts";
import { getMember, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { encodeManagedFields } from "../../fields/apply/new-fields-text.ts";
import { managerId } from "../../fields/apply/manager.ts";
import { applySteps, type Versions } from "../../fields/apply/ownership.ts";
import { shapeOfStruct } from "../../fields/apply/shape.ts";
import { ownersInView, ownersAfterViewWrite, type ViewedField } from "../../fields/apply/view-owners.ts";
import { doSteps } from "../../base/turns/work-pace.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { checkPart, guarded, type ApplyOptions } from "./apply.ts";
import { type Engine, type Target, type WriteResult } from "../engine/engine.ts";
import { managerOf } from "../ownership/field-ownership.ts";
import { readObject, readPart, addWarnings } from "../input/input.ts";
import type { LiveObject } from "../objects/live-object.ts";
import { changeThroughView, viewTarget, type ObjectView, type WrittenView } from "./view.ts";

/**
 * Applies a configuration to a view of an object, such as its scale (spec: conventions 4.10). Ownership is recorded in the object, so
 * managers of the view and managers of the object conflict with each other.
 *
 * @throws {StatusError} NotFound if the object doesn't exist, as a view can't create it; otherwise as `applyObject`.
 */
export async function applyView(
  engine: Engine,
  target: Target,
  view: ObjectView,
  { value, duplicates }: JsonDocument,
  options: ApplyOptions,
): Promise<WriteResult> {
  const ownTarget = viewTarget(target, view);
  const { part, warnings } = readPart(ownTarget, value, duplicates, options.fieldValidation);
  addWarnings(options.report, warnings);
  const configuration = checkPart(ownTarget, value, part);
  const next = (shown: ApiObject, { object: live, managed: base }: LiveObject): WrittenView => {
    const manager = managerOf(target, options, "Apply");
    const { fields } = view.subresource;
    const { apiVersion: version } = view.resource;
    const write = { manager: managerId(manager), version, force: options.force };
    const applying = applySteps(
      withEveryField(shown, live, fields),
      configuration,
      ownersInView(base.owners, fields, version),
      onlyVersion(view),
      write,
    );
    const outcome = doSteps(guarded(ownTarget, applying));
    const owners = ownersAfterViewWrite(base.owners, outcome.owners, fields, manager.apiVersion);
    const { object } = readObject(engine, ownTarget, outcome.object, [], "Ignore");
    if (configuration.metadata.resourceVersion === undefined) delete object.metadata.resourceVersion;
    return {
      written: object,
      managed: encodeManagedFields(owners, base, manager, engine.timestamps.now(), outcome.wrote),
    };
  };
  return changeThroughView(engine, target, view, next, options);
}

/** A view has one version, independent of the version of the object. */
function onlyVersion({ resource }: ObjectView): Versions {
  return {
    shape: (version) => (version === resource.apiVersion ? shapeOfStruct(resource.kind.type) : undefined),
    convert: (objects) => objects,
    canonical: (object) => object,
  };
}

/** The view with its zero fields, which its JSON omits, so that applying zero to them is no change. */
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
