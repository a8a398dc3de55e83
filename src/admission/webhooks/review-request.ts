import { jsonOf } from "../../base/json/value.ts";
import { groupVersion } from "../../vocabulary/names.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { shownUser } from "../../base/user-info.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import type { DeleteOptions } from "../../resources/writes/delete.ts";
import type { AdmissionRequest, WriteOptions } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { ReviewObjects } from "./review-objects.ts";
import { declarationOf } from "../../schema/kind.ts";

/** The versions of AdmissionReview that this server speaks. */
export type ReviewVersion = "v1" | "v1beta1";

/** Builds the AdmissionReview objects for the webhooks of one request. */
export class ReviewRequests {
  private common: string | undefined;

  constructor(
    private readonly request: AdmissionRequest,
    private readonly objects: ReviewObjects,
    private readonly vocabulary: Vocabulary,
  ) {}

  /**
   * Returns one review as JSON.
   *
   * @param version the version of AdmissionReview.
   * @param resource the version in which the webhook matches.
   */
  build(version: ReviewVersion, uid: string, resource: Resource): MaybePromise<string> {
    return andThen(this.objects.encode(resource), ({ object, oldObject }) => {
      const apiVersion = reviewApiVersion(version, this.vocabulary);
      const attributes = { uid, ...versionAttributes(this.request, this.objects, resource) };
      const own = JSON.stringify(attributes).slice(0, -1);
      this.common ??= this.commonMembers();
      const request = `${own},${this.common},"object":${object},"oldObject":${oldObject}}`;
      return `{"kind":"AdmissionReview","apiVersion":"${apiVersion}","request":${request}}`;
    });
  }

  /** The members that are equal for all webhooks, without braces. */
  private commonMembers(): string {
    const { request } = this;
    const options = request.operation === "CONNECT" ? null : optionsOf(request, this.vocabulary);
    const members = { ...requestAttributes(request), options };
    return encodeJson(jsonOf(members)).slice(1, -1);
  }
}

/** The attributes of a request that depend on the version in which a webhook or policy matches. */
export function versionAttributes(
  { target, requestResource }: AdmissionRequest,
  objects: ReviewObjects,
  resource: Resource,
): object {
  const { subresource } = target;
  const { group, version, name } = requestResource;
  return {
    kind: objects.kindIn(resource),
    resource: { group: resource.group, version: resource.version, resource: resource.name },
    ...(subresource === "" ? {} : { subResource: subresource }),
    requestKind: objects.kindIn(requestResource),
    requestResource: { group, version, resource: name },
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
  };
}

/** The attributes of a request that are equal for all webhooks and policies. */
export function requestAttributes({ operation, target, user, dryRun }: AdmissionRequest): object {
  const { name } = target;
  const namespace = requestNamespace(target);
  return {
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: shownUser(user),
    dryRun,
  };
}

/** Returns the namespace of a request; that of a request for a Namespace is the Namespace itself. */
export function requestNamespace({ resource, name, namespace }: AdmissionRequest["target"]): string {
  return declarationOf(resource.stored.kind) === Namespace ? name : namespace;
}

/** `apiVersion` of a review. */
export function reviewApiVersion(version: ReviewVersion, { groupSuffix }: Vocabulary): string {
  return groupVersion(groupSuffix, "admission", version);
}

const optionsKinds = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" } as const;

/** The options of the verb as an object, such as CreateOptions; a patch has UpdateOptions. */
export function optionsOf(
  { operation, options, dryRun }: AdmissionRequest,
  { groupSuffix }: Vocabulary,
): object {
  const kind = optionsKinds[operation as keyof typeof optionsKinds];
  return {
    kind,
    apiVersion: groupVersion(groupSuffix, "meta", "v1"),
    ...(operation === "DELETE" ? deleteOptions(options as Partial<DeleteOptions>) : writeOptions(options)),
    ...(dryRun ? { dryRun: ["All"] } : {}),
  };
}

function writeOptions({
  fieldManager,
  ...rest
}: WriteOptions & { readonly fieldValidation?: string }): object {
  const { fieldValidation } = rest;
  return {
    ...(fieldManager === "" ? {} : { fieldManager }),
    ...(fieldValidation === undefined ? {} : { fieldValidation }),
  };
}

function deleteOptions(options: Partial<DeleteOptions>): object {
  const { gracePeriodSeconds, propagationPolicy, uid, resourceVersion } = options;
  const preconditions =
    uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
  return { gracePeriodSeconds, preconditions, propagationPolicy };
}
