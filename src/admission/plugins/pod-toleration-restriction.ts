import { groupVersion, labelKey } from "../../vocabulary/names.ts";
import { decodeJson } from "../../base/json/decode.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { qualityOfService } from "../../kinds/core/pod/quality-of-service.ts";
import { Toleration } from "../../kinds/core/pod/scheduling.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Configuration } from "../../schema/configuration.ts";
import { decode, TypeFault } from "../../schema/decode.ts";
import { struct } from "../../schema/meta.ts";
import { field, list, string } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsPods, type AdmissionPlugin } from "../admission-chain.ts";
import type { PluginConfiguration } from "../configuration.ts";
import type { AdmissionFacts, NamespaceFacts } from "../followed-objects.ts";
import { forbidden } from "../forbidden.ts";
import { podOf, type TolerationValue } from "../pod-spec.ts";
import { contradict, covers, mergeTolerations } from "../tolerations.ts";

const Restrictions = struct(
  "PodTolerationRestrictionConfiguration",
  "Default and allowed tolerations of pods in the whole cluster.",
  {
    kind: field(undefined, string, "Configuration."),
    apiVersion: field(undefined, string, "Version of the configuration format."),
    default: field(
      undefined,
      list(Toleration),
      "Default tolerations of pods in namespaces without such an annotation.",
    ),
    whitelist: field(
      undefined,
      list(Toleration),
      "Allowed tolerations of pods in namespaces without such an annotation.",
    ),
  },
);

/** The tolerations for namespaces without annotations. */
export interface TolerationRestrictions {
  readonly byDefault: readonly TolerationValue[];
  readonly allowed: readonly TolerationValue[];
}

/**
 * Reads the configuration.
 *
 * @throws {ConfigurationError} the configuration is invalid.
 */
export async function readTolerationRestrictions(
  configuration: PluginConfiguration | undefined,
  { groupSuffix }: Vocabulary,
): Promise<Configuration<TolerationRestrictions>> {
  if (configuration === undefined) return { value: { byDefault: [], allowed: [] }, warnings: [] };
  const { value, warnings } = await configuration.read({
    type: Restrictions,
    kind: "Configuration",
    apiVersions: [groupVersion(groupSuffix, "podtolerationrestriction.admission", "v1alpha1")],
  });
  return { value: { byDefault: value.default ?? [], allowed: value.whitelist ?? [] }, warnings };
}

/**
 * PodTolerationRestriction: new pods get the default tolerations of their namespace, or of the configuration. Pods that
 * contradict these may be rejected; pods with tolerations that the namespace doesn't allow are rejected (spec: conventions 4.13).
 * Pods with requests or limits also get a toleration of memory pressure.
 */
export function podTolerationRestriction(
  facts: AdmissionFacts,
  { byDefault, allowed }: TolerationRestrictions,
  { domain, behavior: { contradictingTolerations } }: Vocabulary,
): AdmissionPlugin {
  const defaultsKey = labelKey(domain, "defaultTolerations", "scheduler.alpha");
  const allowedKey = labelKey(domain, "tolerationsWhitelist", "scheduler.alpha");
  const memoryPressure = {
    key: labelKey(domain, "memory-pressure", "node"),
    operator: "Exists",
    effect: "NoSchedule",
  } as TolerationValue;

  const fill = (request: AdmissionRequest, namespace: NamespaceFacts | undefined): void => {
    const { spec } = podOf(request);
    const own = spec.tolerations ?? [];
    const added: TolerationValue[] = [];
    if (request.operation === "CREATE") {
      added.push(...(parseAnnotation(request, namespace, defaultsKey) ?? byDefault));
      const conflict = added.some((toleration) => own.some((other) => contradict(toleration, other)));
      if (conflict && !contradictingTolerations)
        throw forbidden(request.target, "namespace tolerations and pod tolerations conflict");
    }
    if (qualityOfService(spec) !== "BestEffort") added.push(memoryPressure);
    if (added.length > 0) spec.tolerations = mergeTolerations(own, added);
  };
  const check = (request: AdmissionRequest, namespace: NamespaceFacts | undefined): void => {
    const { tolerations = [] } = podOf(request).spec;
    const own = parseAnnotation(request, namespace, allowedKey);
    const list = own ?? allowed;
    if (list.length === 0 || tolerations.every((toleration) => list.some((wide) => covers(wide, toleration))))
      return;
    const scope = own === undefined ? "cluster" : "namespace";
    throw forbidden(
      request.target,
      `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`,
    );
  };
  const withNamespace = (
    request: AdmissionRequest,
    work: (request: AdmissionRequest, namespace: NamespaceFacts | undefined) => void,
  ): MaybePromise<void> =>
    andThen(facts.namespaces.get("", request.target.namespace, request.staged), (namespace) =>
      work(request, namespace),
    );
  return {
    name: "PodTolerationRestriction",
    concerns: concernsPods("CREATE", "UPDATE"),
    mutate: (request) => withNamespace(request, fill),
    validate: (request) => withNamespace(request, check),
  };
}

const ListOfTolerations = struct("Tolerations", "Tolerations in an annotation.", {
  tolerations: field(undefined, list(Toleration), "The tolerations."),
});

/** Parses the JSON array of tolerations in an annotation; undefined without the annotation. */
function parseAnnotation(
  { target }: AdmissionRequest,
  namespace: NamespaceFacts | undefined,
  key: string,
): readonly TolerationValue[] | undefined {
  const text = namespace?.annotations[key];
  if (text === undefined) return undefined;
  if (text === "") return [];
  try {
    const { value } = decode(ListOfTolerations, { tolerations: decodeJson(Buffer.from(text)).value });
    return (value as { tolerations?: TolerationValue[] }).tolerations ?? [];
  } catch (error) {
    if (!(error instanceof SyntaxFault) && !(error instanceof TypeFault)) throw error;
    throw forbidden(
      target,
      `the annotation ${key} of namespace ${target.namespace} can't be read: ${error.message}`,
    );
  }
}
