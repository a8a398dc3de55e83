import { andThen } from "../../base/maybe-promise.ts";
import { isObject, type JsonValue } from "../../base/json/value.ts";
import { parseLabelRequirements } from "../../base/label-selector-parser.ts";
import { StatusError } from "../../base/status-error.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsPods } from "../admitted-types.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { PluginConfiguration } from "../configuration.ts";
import type { AdmissionFacts } from "../followed-objects.ts";
import { forbidden } from "../forbidden.ts";
import { podOf } from "../pod-spec.ts";

type Labels = Readonly<Record<string, string>>;

/** The node selectors that the plugin is configured with. */
export interface NodeSelectors {
  /** For pods of namespaces without the annotation. */
  readonly byDefault: Labels;
  /** By namespace: the only labels that its pods may select nodes by. */
  readonly allowed: ReadonlyMap<string, Labels>;
}

/** The name of the default in the configuration; all other names are of namespaces. */
const defaultKey = "clusterDefaultNodeSelector";

/**
 * Reads what the plugin is configured with: `podNodeSelectorPluginConfig`, an object of selectors such as `env=test,disk=ssd`.
 *
 * @throws {ConfigurationError}
 */
export async function readNodeSelectors(
  configuration: PluginConfiguration | undefined,
): Promise<NodeSelectors> {
  const value = (await configuration?.readPlain()) as JsonValue | undefined;
  const found = isObject(value) ? value["podNodeSelectorPluginConfig"] : undefined;
  if (found === undefined || found === null) return { byDefault: {}, allowed: new Map() };
  if (!isObject(found)) throw new ConfigurationError("podNodeSelectorPluginConfig: must be an object");
  const selectors = new Map<string, Labels>();
  for (const [name, text] of Object.entries(found)) {
    const place = `podNodeSelectorPluginConfig.${name}`;
    if (typeof text !== "string") throw new ConfigurationError(`${place}: must be a text`);
    try {
      selectors.set(name, labelsOf(text));
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      throw new ConfigurationError(`${place}: ${error.message}`, { cause: error });
    }
  }
  const byDefault = selectors.get(defaultKey) ?? {};
  selectors.delete(defaultKey);
  return { byDefault, allowed: selectors };
}

/**
 * PodNodeSelector: new pods get the node selector of their namespace, which stands in an annotation, or the default one of the
 * configuration; pods that contradict it, or select by what their namespace isn't allowed, are rejected
 * (spec: conventions 4.13).
 */
export function podNodeSelector(
  facts: AdmissionFacts,
  { byDefault, allowed }: NodeSelectors,
  { domain }: Vocabulary,
): AdmissionPlugin {
  const annotation = `scheduler.alpha.${domain}/node-selector`;
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
      return andThen(facts.namespaces.get("", target.namespace), (namespace) => {
        const text = namespace?.annotations[annotation];
        const wanted = text === undefined ? byDefault : annotated(text, request);
        const { spec } = podOf(request);
        const own = spec.nodeSelector ?? {};
        const entries = Object.entries(wanted);
        if (entries.some(([key, value]) => Object.hasOwn(own, key) && own[key] !== value)) {
          throw forbidden(target, "pod node label selector conflicts with its namespace node label selector");
        }
        if (entries.length > 0) spec.nodeSelector = { ...wanted, ...own };
        check(request);
      });
    },
    validate: check,
  };
}

function annotated(
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

/** @throws {StatusError} BadRequest for what isn't a list of `key=value`. */
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
