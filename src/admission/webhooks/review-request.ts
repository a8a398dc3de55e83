import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { shownUser } from "../../base/user-info.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import type { DeleteOptions } from "../../resources/writes/delete.ts";
import type { AdmissionRequest, WriteOptions } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { SentObjects } from "./sent-object.ts";
import type { ReviewVersion } from "./webhook.ts";

/** What webhooks are asked about one request: AdmissionReview, by its version and by the version of the objects. */
export class ReviewRequests {
  /** The text of the old object, by the version. */
  private readonly old = new Map<Resource, string>();
  private rest: string | undefined;

  constructor(
    private readonly request: AdmissionRequest,
    private readonly objects: SentObjects,
    private readonly vocabulary: Vocabulary,
  ) {}

  /**
   * The text of one review.
   *
   * @param resource the version in which the webhook wants the objects.
   * @param object the text of the object in that version.
   */
  review(version: ReviewVersion, uid: string, resource: Resource, object: string): string {
    const { request } = this;
    const { subresource } = request.target;
    const requested = request.requestResource;
    const asked = {
      uid,
      kind: this.objects.kindOf(request, resource),
      resource: { group: resource.group, version: resource.version, resource: resource.name },
      ...(subresource === "" ? {} : { subResource: subresource }),
      requestKind: this.objects.kindOf(request, requested),
      requestResource: { group: requested.group, version: requested.version, resource: requested.name },
      ...(subresource === "" ? {} : { requestSubResource: subresource }),
    };
    const head = `{"kind":"AdmissionReview","apiVersion":"${reviewApiVersion(version, this.vocabulary)}","request":`;
    const objects = `"object":${object},"oldObject":${this.oldObject(resource)}`;
    this.rest ??= this.sameForAll();
    return `${head}${JSON.stringify(asked).slice(0, -1)},${this.rest},${objects}}}`;
  }

  private oldObject(resource: Resource): string {
    let text = this.old.get(resource);
    if (text === undefined) {
      text = this.objects.encode(this.request, resource, this.request.live);
      this.old.set(resource, text);
    }
    return text;
  }

  /** The members that are the same for all webhooks, without brackets. */
  private sameForAll(): string {
    const { request } = this;
    const { operation, target, user, dryRun } = request;
    const { name } = target;
    // The namespace of a request for a Namespace is itself.
    const namespace = target.resource.stored.kind === Namespace ? name : target.namespace;
    const members = {
      ...(name === "" ? {} : { name }),
      ...(namespace === "" ? {} : { namespace }),
      operation,
      userInfo: shownUser(user),
      dryRun,
      options: operation === "CONNECT" ? null : optionsOf(request, this.vocabulary),
    };
    return encodeJson(members as unknown as JsonValue).slice(1, -1);
  }
}

/** `apiVersion` of a review. */
export function reviewApiVersion(version: ReviewVersion, { groupSuffix }: Vocabulary): string {
  return `admission.${groupSuffix}/${version}`;
}

const optionsKinds = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" } as const;

/** The options of the verb, as an object of their kind; a patch has those of an update. */
export function optionsOf(
  { operation, options, dryRun }: AdmissionRequest,
  { groupSuffix }: Vocabulary,
): object {
  const kind = optionsKinds[operation as keyof typeof optionsKinds];
  return {
    kind,
    apiVersion: `meta.${groupSuffix}/v1`,
    ...(operation === "DELETE" ? deletion(options as Partial<DeleteOptions>) : writing(options)),
    ...(dryRun ? { dryRun: ["All"] } : {}),
  };
}

function writing({ fieldManager, ...rest }: WriteOptions & { readonly fieldValidation?: string }): object {
  const { fieldValidation } = rest;
  return {
    ...(fieldManager === "" ? {} : { fieldManager }),
    ...(fieldValidation === undefined ? {} : { fieldValidation }),
  };
}

function deletion(options: Partial<DeleteOptions>): object {
  const { gracePeriodSeconds, propagationPolicy, uid, resourceVersion } = options;
  const preconditions =
    uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
  return { gracePeriodSeconds, preconditions, propagationPolicy };
}
