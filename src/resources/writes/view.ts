import { jsonOf, deepClone } from "../../base/json/value.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonDocument } from "../../base/json/exact.ts";
import { objectNotFound } from "../../base/object-errors.ts";
import { StatusError } from "../../base/status-error.ts";
import type { ApiObject, ViewSubresource } from "../../schema/kind.ts";
import type { Engine, Target, WriteOptions, WriteResult } from "../engine/engine.ts";
import type { ManagedFieldsText } from "../../fields/apply/new-fields-text.ts";
import type { Entry } from "../../storage/store.ts";
import { getObject } from "../reads/get.ts";
import type { LiveObject } from "../objects/live-object.ts";
import { checkUid, matchNamespace } from "../input/metadata.ts";
import { addWarnings, writeContext } from "../input/input.ts";
import { readPatched, type PatchKind, type PatchOptions } from "./patch.ts";
import { resourceOf, type Resource } from "../registry/registry.ts";
import { decodeBody, decodeEntry } from "../objects/stored.ts";
import { guaranteedUpdate, type UpdatedObject } from "./guaranteed-update.ts";
import { checkBody } from "./write.ts";

/** A subresource of another kind that shows a part of an object and changes it, such as `scale` (spec: conventions 4.2). */
export interface ObjectView {
  readonly subresource: ViewSubresource;
  readonly resource: Resource;
}

/** The view of a subresource. */
export function viewAt(engine: Engine, subresource: ViewSubresource): ObjectView {
  return { subresource, resource: resourceOf(subresource.kind(), engine.vocabulary) };
}

/** Reads an object and returns its view as JSON. */
export async function getView(engine: Engine, target: Target, view: ObjectView): Promise<Uint8Array> {
  const object = decodeEntry(await readViewed(engine, target));
  view.subresource.checkShown?.(object);
  return bodyOf(view, object);
}

/** Reads the object of a view. As in the reference, NotFound names the subresource, except for custom kinds. */
async function readViewed(engine: Engine, target: Target): Promise<Entry> {
  try {
    return await getObject(engine, target);
  } catch (error) {
    const { kind, name, group } = target.resource;
    if (!(error instanceof StatusError) || error.reason !== "NotFound" || kind.custom !== undefined)
      throw error;
    throw objectNotFound({ resource: `${name}/${target.subresource}`, group, name: target.name });
  }
}

/** Replaces the fields of the view, PUT. @param read returns the view of the request. */
export function updateView(
  engine: Engine,
  target: Target,
  view: ObjectView,
  read: () => ApiObject,
  options: WriteOptions,
): Promise<WriteResult> {
  return changeThroughView(engine, target, view, () => ({ written: read() }), options);
}

/** Patches the view of an object. */
export async function patchView(
  engine: Engine,
  target: Target,
  view: ObjectView,
  { kind, patch }: { readonly kind: PatchKind; readonly patch: JsonDocument },
  options: PatchOptions,
): Promise<WriteResult> {
  const patched = (shown: ApiObject): WrittenView => {
    const version = shown.metadata.resourceVersion;
    const input = readPatched(engine, viewTarget(target, view), kind, patch, shown, options);
    addWarnings(options.report, input.warnings);
    if (input.object.metadata.resourceVersion === version) delete input.object.metadata.resourceVersion;
    return { written: input.object };
  };
  return changeThroughView(engine, target, view, patched, options);
}

/** A changed view, and the managed fields of the object if the change defines them. */
export interface WrittenView {
  readonly written: ApiObject;
  readonly managed?: ManagedFieldsText | undefined;
}

/** Changes an object through its view. @param next returns the new view for that of the live object. */
export async function changeThroughView(
  engine: Engine,
  target: Target,
  view: ObjectView,
  next: (shown: ApiObject, live: LiveObject) => WrittenView,
  options: WriteOptions,
): Promise<WriteResult> {
  const apply = (live: LiveObject): UpdatedObject => {
    const { written, managed } = next(shown(view, live.object, view.subresource.basis), live);
    checkName(target, written);
    checkUid(target, written, live.object);
    matchNamespace(target, written.metadata);
    const copy = deepClone(live.object);
    view.subresource.write(copy, written);
    checkBody(engine, viewTarget(target, view), written);
    const { resourceVersion } = written.metadata;
    if (resourceVersion === undefined) delete copy.metadata.resourceVersion;
    else copy.metadata.resourceVersion = resourceVersion;
    return { object: copy, managed };
  };
  const result = await guaranteedUpdate(writeContext(engine, target, options), apply);
  return { ...result, body: bodyOf(view, decodeBody(result.body)) };
}

/** The target of the view itself, for decoding and validating its body. */
export function viewTarget(target: Target, { resource }: ObjectView): Target {
  return { ...target, resource };
}

function checkName(target: Target, { metadata }: ApiObject): void {
  if (metadata.name === target.name) return;
  throw new StatusError(
    "BadRequest",
    `the name of the object (${metadata.name ?? ""}) does not match the name on the URL (${target.name})`,
  );
}

/** The view of an object. @param read returns its fields; by default those that a get shows. */
export function shown(
  { subresource, resource }: ObjectView,
  object: ApiObject,
  read = subresource.read,
): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const metadata = { name, namespace, uid, resourceVersion, creationTimestamp };
  const { kind, apiVersion } = resource;
  return { kind: kind.name, apiVersion, metadata, ...read(object) } as ApiObject;
}

function bodyOf(view: ObjectView, object: ApiObject): Uint8Array {
  return Buffer.from(encodeJson(jsonOf(shown(view, object))));
}
