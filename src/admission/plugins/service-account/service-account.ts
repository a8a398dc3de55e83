import { andThen, type MaybePromise } from "../../../base/turns/maybe-promise.ts";
import { mirrorAnnotation } from "../../../kinds/core/pod/annotation-rules.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { ServiceAccount } from "../../../kinds/core/service-account.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { isOf, type AdmissionPlugin } from "../../admission-chain.ts";
import { forbidden } from "../../forbidden.ts";
import { podOf, type PodSpecValue } from "../../pod-spec.ts";
import { defaultAccount, type AccountReader } from "./account-reader.ts";
import { declarationOf } from "../../../schema/kind.ts";
import { tokenFolder, labelKey } from "../../../vocabulary/names.ts";
import { makeName } from "../../../base/names.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import { podObjects } from "../../../authorization/node/references.ts";

/** The account that the mutating phase has read; the validating phase uses it again. */
class AccountState {
  account: ServiceAccount | undefined;
}

/**
 * ServiceAccount: a new pod runs as an existing service account, by default `default`, and gets its token and its image pull
 * secrets. If an annotation of the account restricts secrets, pods and ephemeral containers may use only those that the account
 * lists. Mirror pods have no account and no secrets (spec: conventions 4.13, rulings).
 *
 * @param randomInt returns a random integer of at least 0 and less than its argument.
 */
export function serviceAccount(
  accounts: AccountReader,
  vocabulary: Vocabulary,
  randomInt: (below: number) => number,
): AdmissionPlugin {
  const mirror = mirrorAnnotation({ vocabulary });
  const accountOf = (request: AdmissionRequest): MaybePromise<ServiceAccount> => {
    const { target } = request;
    const pod = podOf(request);
    const name = pod.spec.serviceAccountName ?? "";
    if (name === "") {
      const podName = `${target.namespace}/${pod.metadata.name}`;
      throw forbidden(target, `no service account specified for pod ${podName}`);
    }
    const state = request.effects.state(AccountState);
    if (state.account?.metadata.name === name) return state.account;
    return andThen(accounts.find(target.namespace, name, request.staged), (account) => {
      if (account === undefined) {
        const missing = `serviceaccount ${JSON.stringify(name)} not found`;
        throw forbidden(target, `error looking up service account ${target.namespace}/${name}: ${missing}`);
      }
      return (state.account = account);
    });
  };
  const isMirror = ({ object }: AdmissionRequest): boolean =>
    object?.metadata.annotations?.[mirror] !== undefined;
  const check = (request: AdmissionRequest): MaybePromise<void> => {
    if (isMirror(request)) return rejectIf(request, forbiddenOfMirror(podOf(request)));
    return andThen(accountOf(request), (account) => {
      if (!limitsSecrets(account, vocabulary)) return;
      rejectIf(request, forbiddenSecret(account, podOf(request).spec));
    });
  };
  const checkEphemeral = (request: AdmissionRequest): MaybePromise<void> =>
    andThen(accountOf(request), (account) => {
      if (!limitsSecrets(account, vocabulary)) return;
      rejectIf(request, forbiddenEphemeralSecret(account, podOf(request).spec));
    });

  return {
    name: "ServiceAccount",
    concerns: (operation, type) =>
      operation === "CREATE"
        ? isOf(type, Pod)
        : operation === "UPDATE" &&
          type.subresource === "ephemeralcontainers" &&
          declarationOf(type.resource.stored.kind) === Pod,
    mutate(request) {
      if (request.operation !== "CREATE") return;
      if (isMirror(request)) return check(request);
      const { spec } = podOf(request);
      if ((spec.serviceAccountName ?? "") === "") {
        spec.serviceAccountName = spec.serviceAccount = defaultAccount;
      }
      return andThen(accountOf(request), (account) => {
        if (mountsToken(account, spec)) mountToken(spec, vocabulary, randomInt);
        fillPullSecrets(spec, account);
        return check(request);
      });
    },
    validate: (request) => (request.operation === "CREATE" ? check(request) : checkEphemeral(request)),
  };
}

function fillPullSecrets(
  spec: ReturnType<typeof podOf>["spec"],
  { imagePullSecrets = [] }: ServiceAccount,
): void {
  if ((spec.imagePullSecrets ?? []).length > 0 || imagePullSecrets.length === 0) return;
  spec.imagePullSecrets = imagePullSecrets.map((reference) => ({ ...reference }));
}

function rejectIf({ target }: AdmissionRequest, why: string | undefined): void {
  if (why !== undefined) throw forbidden(target, why);
}

type Volume = NonNullable<PodSpecValue["volumes"]>[number];

/** Lifetime of tokens in pods, in seconds: an hour plus 7, which identifies these tokens. */
const tokenSeconds = 3607;
/** Mode of the files in the volume: 0644. */
const fileMode = 0o644;

/** Whether the token is mounted automatically: by the pod or else by the account; true by default. */
function mountsToken(account: ServiceAccount, spec: PodSpecValue): boolean {
  return spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
}

/**
 * Adds a volume with the token, the CA certificate of the server and the name of the namespace, and mounts it in every container
 * without a mount at its path. An existing volume with the name prefix is used. The pod isn't validated yet: containers and names
 * may be missing.
 *
 * @param randomInt returns a random integer of at least 0 and less than its argument.
 */
function mountToken(spec: PodSpecValue, vocabulary: Vocabulary, randomInt: (below: number) => number): void {
  const { domain, tokenVolumePrefix } = vocabulary;
  const mountPath = tokenFolder(domain);
  const containers: readonly Container[] = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const withoutMount = containers.filter(
    ({ volumeMounts = [] }) => !volumeMounts.some((mount) => mount.mountPath === mountPath),
  );
  if (withoutMount.length === 0) return;
  const existing = spec.volumes?.find(({ name = "" }) => name.startsWith(tokenVolumePrefix));
  const name = existing?.name ?? makeName(tokenVolumePrefix, randomInt);
  for (const container of withoutMount) {
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
  }
  if (existing === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name, vocabulary)];
}

function tokenVolume(name: string, { rootAuthorityConfigMap }: Vocabulary): Volume {
  const authority = { key: "ca.crt", path: "ca.crt" };
  const namespace = { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } };
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: "token" } },
        { configMap: { name: rootAuthorityConfigMap, items: [authority] } },
        { downwardAPI: { items: [namespace] } },
      ],
      defaultMode: fileMode,
    },
  };
}

/** Values that the reference parses as true. */
const trueTexts = new Set(["1", "t", "T", "TRUE", "true", "True"]);

/** Whether the annotation of an account restricts its pods to the secrets that it lists. */
function limitsSecrets({ metadata }: ServiceAccount, { domain }: Vocabulary): boolean {
  return trueTexts.has(metadata.annotations?.[labelKey(domain, "enforce-mountable-secrets")] ?? "");
}

/** Returns why a new pod may not use a secret that its account doesn't list; undefined if all are allowed. */
function forbiddenSecret(account: ServiceAccount, spec: PodSpecValue): string | undefined {
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
function forbiddenEphemeralSecret(account: ServiceAccount, spec: PodSpecValue): string | undefined {
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
function forbiddenOfMirror(pod: Pod & { readonly spec: PodSpecValue }): string | undefined {
  if ((pod.spec.serviceAccountName ?? "") !== "") return "a mirror pod may not reference service accounts";
  const refersTo = new Map(podObjects(pod));
  if ((refersTo.get("secret") ?? []).length > 0) return "a mirror pod may not reference secrets";
  const sources = (pod.spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken)) {
    return "a mirror pod may not use ServiceAccountToken volume projections";
  }
  return undefined;
}
