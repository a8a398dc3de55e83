import { podObjects } from "../../../authorization/node/references.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import type { Pod } from "../../../kinds/core/pod/pod.ts";
import type { ServiceAccount } from "../../../kinds/core/service-account.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { PodSpecValue } from "../../pod-spec.ts";

/** Texts that mean true, as the reference reads them. */
const trueTexts = new Set(["1", "t", "T", "TRUE", "true", "True"]);

/** Whether an account's annotation says that its pods may use only the secrets that the account names. */
export function limitsSecrets({ metadata }: ServiceAccount, { domain }: Vocabulary): boolean {
  return trueTexts.has(metadata.annotations?.[`${domain}/enforce-mountable-secrets`] ?? "");
}

/** Why a new pod may not have the secrets that it refers to, of which its account doesn't name one; undefined if it may. */
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

/** As {@link forbiddenSecret}, for the containers that are added to a pod to look into it. */
export function forbiddenEphemeralSecret(account: ServiceAccount, spec: PodSpecValue): string | undefined {
  return forbiddenIn(account, "ephemeral container", spec.ephemeralContainers as readonly Container[]);
}

/** The first secret in the environments of containers that an account doesn't name, one variable or many at a time. */
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
 * What a mirror pod refers to and may not: the agent runs it from a file, and reads nothing of the API for it; undefined when
 * it refers to nothing of the kind.
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
