import { groupVersion } from "../../vocabulary/names.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { ItemForm } from "../../resources/pages/joined-bodies.ts";
import { itemForm } from "../../resources/reads/list.ts";
import { decodeBody } from "../../resources/objects/stored.ts";
import { fromStored } from "../../resources/engine/conversion.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import { PartialObjectMetadata } from "../../schema/object-meta.ts";
import type { StructType } from "../../schema/types.ts";
import { listKind } from "./encoding.ts";

/** The part of an object that a response shows, independent of its encoding. */
export interface View {
  /** Views of the same stored objects with equal keys show the same. */
  readonly key: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  /** Form of the items of a list. */
  readonly itemForm: ItemForm;
  /** Whether whole objects of a custom kind are shown. */
  readonly isCustom: boolean;
  /** Type of the shown object. */
  readonly type: StructType;
  /** Whether the shown object equals the stored bytes. */
  readonly asStored: boolean;
  /** Whether all shown fields are stored fields, unchanged. */
  readonly ofStored: boolean;
  /** Returns the shown object of a stored body. */
  readonly show: (body: Uint8Array) => ApiObject;
}

/** Shows the whole object, in the version of its resource type. */
export function wholeView(resource: Resource, context: KindContext): View {
  const { apiVersion, kind } = resource;
  return {
    key: `whole ${apiVersion}`,
    apiVersion,
    kind: kind.name,
    listKind: listKind(resource),
    itemForm: itemForm(resource),
    isCustom: kind.custom !== undefined,
    type: kind.type,
    asStored: kind.conversion === undefined,
    ofStored: kind.conversion === undefined,
    show: (body) => fromStored(resource, decodeBody(body), context),
  };
}

/** Returns an object's metadata as a PartialObjectMetadata. */
export function metadataAlone(
  { fieldAnnotations }: Kind,
  metadata: ApiObject["metadata"],
): ApiObject["metadata"] {
  if (fieldAnnotations === undefined || metadata.annotations === undefined) return metadata;
  const others = Object.entries(metadata.annotations).filter(([key]) => !fieldAnnotations.includes(key));
  const { annotations: _, ...alone } = metadata;
  return others.length === 0 ? alone : { ...alone, annotations: Object.fromEntries(others) };
}

/** Shows only the metadata (spec: conventions 4.7). */
export function metadataView({ kind }: Resource, context: KindContext, version: string): View {
  const apiVersion = groupVersion(context.vocabulary.groupSuffix, "meta", version);
  return {
    key: kind.fieldAnnotations === undefined ? `metadata ${version}` : `metadata ${version} ${kind.name}`,
    apiVersion,
    kind: "PartialObjectMetadata",
    listKind: "PartialObjectMetadataList",
    itemForm: "typed",
    isCustom: false,
    type: PartialObjectMetadata,
    asStored: false,
    ofStored: kind.fieldAnnotations === undefined,
    show: (body) => ({
      kind: "PartialObjectMetadata",
      apiVersion,
      metadata: metadataAlone(kind, decodeBody(body).metadata),
    }),
  };
}

/** Returns an object as an item of a list. */
export function shownItem(view: View, body: Uint8Array): object {
  const object = view.show(body);
  if (view.itemForm === "typed") return object;
  const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
  return item;
}
