import { labelKey } from "../../../vocabulary/names.ts";
import { podObjects } from "../../../authorization/node/references.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import type { Pod } from "../../../kinds/core/pod/pod.ts";
import type { ServiceAccount } from "../../../kinds/core/service-account.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { PodSpecValue } from "../../pod-spec.ts";

/** Values that the reference parses as true. */
const trueTexts = new Set(["1", "t", "T", "TRUE", "true", "True"]);

/** Whether the annotation of an account restricts its pods to the secrets that it lists. */
export function limitsSecrets({ metadata }: ServiceAccount, { domain }: Vocabulary): boolean {
  return trueTexts.has(metadata.annotations?.[labelKey(domain, "enforce-mountable-secrets")] ?? "");
}

/** Returns why a new pod may not use a secret that its account doesn't list; undefined if all are allowed. */
export function forbiddenSecret(account: ServiceAccount, spec: PodSpecValue): string | undefined {
  const named = new Set((account.secrets ?? []).map(({ name }) => name));
  const ending = endingFor(account);
  for (const { secret } of spec.volumes ?? []) {
    const name = secret?.secretName;
    if (secret && !named.has(name)) return `volume with secret.secretName=${quoted(name)} ${ending}`;
  }
  const inContainers =
    forbiddenIn(account, "init container", spec.initContainers) ??
    forbiddenIn(account, "container", spec.containers);
  if (inContainers !== undefined) return inContainers;
  const pulling = new Set((account.imagePullSecrets ?? []).map(({ name }) => name));
  const pulls = spec.imagePullSecrets ?? [];
  const at = pulls.findIndex(({ name }) => !pulling.has(name));
  if (at === -1) return undefined;
  return (
    `imagePullSecrets[${at}].name=${quoted(pulls[at]!.name)} is not allowed because service account ` +
    `${account.metadata.name} does not reference that imagePullSecret`
  );
}

/** As {@link forbiddenSecret}, for ephemeral containers. */
export function forbiddenEphemeralSecret(account: ServiceAccount, spec: PodSpecValue): string | undefined {
  return forbiddenIn(account, "ephemeral container", spec.ephemeralContainers as readonly Container[]);
}

/** Returns the first secret in `env` and `envFrom` of containers that the account doesn't list. */
function forbiddenIn(
  account: ServiceAccount,
  what: string,
  containers: readonly Container[] | undefined,
): string | undefined {
  const named = new Set((account.secrets ?? []).map(({ name }) => name));
  const ending = endingFor(account);
  for (const { name: container, env = [], envFrom = [] } of containers ?? []) {
    for (const { name, valueFrom } of env) {
      const reference = valueFrom?.secretKeyRef;
      if (!reference || named.has(reference.name)) continue;
      return `${what} ${container} with envVar ${name} referencing secret.secretName=${quoted(reference.name)} ${ending}`;
    }
    for (const { secretRef } of envFrom) {
      if (!secretRef || named.has(secretRef.name)) continue;
      return `${what} ${container} with envFrom referencing secret.secretName=${quoted(secretRef.name)} ${ending}`;
    }
  }
  return undefined;
}

function endingFor({ metadata }: ServiceAccount): string {
  return `is not allowed because service account ${metadata.name} does not reference that secret`;
}

function quoted(name: string | undefined): string {
  return JSON.stringify(name ?? "");
}

/**
 * Returns why the references of a mirror pod are forbidden; undefined if it has none. The agent runs mirror pods from files,
 * without reading objects for them.
 */
export function forbiddenOfMirror(pod: Pod & { readonly spec: PodSpecValue }): string | undefined {
  if ((pod.spec.serviceAccountName ?? "") !== "") return "a mirror pod may not reference service accounts";
  const refersTo = new Map(podObjects(pod));
  if ((refersTo.get("secret") ?? []).length > 0) return "a mirror pod may not reference secrets";
  const sources = (pod.spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken)) {
    return "a mirror pod may not use ServiceAccountToken volume projections";
  }
  return undefined;
}
