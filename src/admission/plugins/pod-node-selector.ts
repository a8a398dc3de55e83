import { labelKey } from "../../vocabulary/names.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";
import { isObject, type JsonValue } from "../../base/json/value.ts";
import { parseLabelRequirements } from "../../base/selectors/label-selector-parser.ts";
import { StatusError } from "../../base/status-error.ts";
import { assertMembers, ConfigurationError } from "../../schema/configuration.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsPods, type AdmissionPlugin } from "../admission-chain.ts";
import { plainMembers, type PluginConfiguration } from "../configuration.ts";
import type { AdmissionFacts } from "../followed-objects.ts";
import { forbidden } from "../forbidden.ts";
import { podOf } from "../pod-spec.ts";

type Labels = Readonly<Record<string, string>>;

/** The configuration of PodNodeSelector. */
export interface NodeSelectors {
  /** Node selector for namespaces without the annotation. */
  readonly byDefault: Labels;
  /** By namespace: the only labels that node selectors of its pods may use. */
  readonly allowed: ReadonlyMap<string, Labels>;
}

/** The key of the default node selector in the configuration; all other keys are namespaces. */
const defaultKey = "clusterDefaultNodeSelector";

/**
 * Reads `podNodeSelectorPluginConfig`, an object of selectors such as `env=test,disk=ssd`.
 *
 * @throws {ConfigurationError} the configuration is invalid.
 */
export async function readNodeSelectors(
  configuration: PluginConfiguration | undefined,
): Promise<NodeSelectors> {
  const value = (await configuration?.readPlain((plain) => assertMembers(plain, plainMembers))) as
    JsonValue | undefined;
  const config = isObject(value) ? value["podNodeSelectorPluginConfig"] : undefined;
  if (config === undefined || config === null) return { byDefault: {}, allowed: new Map() };
  if (!isObject(config)) throw new ConfigurationError("podNodeSelectorPluginConfig: must be an object");
  const selectors = new Map<string, Labels>();
  for (const [name, text] of Object.entries(config)) {
    const path = `podNodeSelectorPluginConfig.${name}`;
    if (typeof text !== "string") throw new ConfigurationError(`${path}: must be a string`);
    try {
      selectors.set(name, labelsOf(text));
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      throw new ConfigurationError(`${path}: ${error.message}`, { cause: error });
    }
  }
  const byDefault = selectors.get(defaultKey) ?? {};
  selectors.delete(defaultKey);
  return { byDefault, allowed: selectors };
}

/**
 * PodNodeSelector: new pods get the node selector in the annotation of their namespace, or the default of the configuration. Pods
 * that contradict it or use labels that their namespace isn't allowed are rejected (spec: conventions 4.13).
 */
export function podNodeSelector(
  facts: AdmissionFacts,
  { byDefault, allowed }: NodeSelectors,
  { domain }: Vocabulary,
): AdmissionPlugin {
  const annotation = labelKey(domain, "node-selector", "scheduler.alpha");
  const check = (request: Parameters<NonNullable<AdmissionPlugin["validate"]>>[0]): void => {
    const only = allowed.get(request.target.namespace) ?? {};
    if (Object.keys(only).length === 0) return;
    const selected = Object.entries(podOf(request).spec.nodeSelector ?? {});
    if (selected.every(([key, value]) => Object.hasOwn(only, key) && only[key] === value)) return;
    throw forbidden(request.target, "pod node label selector labels conflict with its namespace whitelist");
  };
  return {
    name: "PodNodeSelector",
    concerns: concernsPods("CREATE"),
    mutate(request) {
      const { target } = request;
      return andThen(facts.namespaces.get("", target.namespace, request.staged), (namespace) => {
        const text = namespace?.annotations[annotation];
        const required = text === undefined ? byDefault : parseAnnotation(text, request);
        const { spec } = podOf(request);
        const own = spec.nodeSelector ?? {};
        const entries = Object.entries(required);
        if (entries.some(([key, value]) => Object.hasOwn(own, key) && own[key] !== value)) {
          throw forbidden(target, "pod node label selector conflicts with its namespace node label selector");
        }
        if (entries.length > 0) spec.nodeSelector = { ...required, ...own };
        check(request);
      });
    },
    validate: check,
  };
}

function parseAnnotation(
  text: string,
  { target }: Parameters<NonNullable<AdmissionPlugin["validate"]>>[0],
): Labels {
  try {
    return labelsOf(text);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw forbidden(target, `the node selector of namespace ${target.namespace}: ${error.message}`);
  }
}

/** @throws {StatusError} BadRequest: the text isn't a list of `key=value`. */
function labelsOf(text: string): Labels {
  const labels: Record<string, string> = {};
  for (const { key, operator, values } of parseLabelRequirements(text)) {
    if (operator !== "In" || values.length !== 1) {
      throw new StatusError("BadRequest", `${JSON.stringify(text)} is not a list of key=value`);
    }
    labels[key] = values[0]!;
  }
  return labels;
}
