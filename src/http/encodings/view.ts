import type { Resource } from "../../resources/registry.ts";
import { decodeBody } from "../../resources/stored.ts";
import { fromStored } from "../../resources/conversion.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { PartialObjectMetadata } from "../../schema/object-meta.ts";
import type { StructType } from "../../schema/types.ts";
import { listKind } from "./encoding.ts";

/** What is shown of each object, before it is written in some form. */
export interface View {
  /** Two views of the same stored objects with the same key show the same. */
  readonly key: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  /** Type of what is shown. */
  readonly type: StructType;
  /** Whether the stored bytes are what is shown. */
  readonly asStored: boolean;
  /** What is shown of a stored body. */
  readonly show: (body: Uint8Array) => ApiObject;
}

/** The whole object, in the version of its resource type. */
export function wholeView(resource: Resource, context: KindContext): View {
  const { apiVersion, kind } = resource;
  return {
    key: `whole ${apiVersion}`,
    apiVersion,
    kind: kind.name,
    listKind: listKind(resource),
    type: kind.type,
    asStored: kind.conversion === undefined,
    show: (body) => fromStored(resource, decodeBody(body), context),
  };
}

/** The metadata alone (spec: conventions 4.7). */
export function metadataView(context: KindContext, version: string): View {
  const apiVersion = `meta.${context.vocabulary.groupSuffix}/${version}`;
  return {
    key: `metadata ${version}`,
    apiVersion,
    kind: "PartialObjectMetadata",
    listKind: "PartialObjectMetadataList",
    type: PartialObjectMetadata,
    asStored: false,
    show: (body) => ({ kind: "PartialObjectMetadata", apiVersion, metadata: decodeBody(body).metadata }),
  };
}
