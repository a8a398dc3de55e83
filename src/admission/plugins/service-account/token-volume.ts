import { tokenFolder } from "../../../vocabulary/names.ts";
import { makeName } from "../../../base/names.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import type { ServiceAccount } from "../../../kinds/core/service-account.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { PodSpecValue } from "../../pod-spec.ts";

type Volume = NonNullable<PodSpecValue["volumes"]>[number];

/** Lifetime of tokens in pods, in seconds: an hour plus 7, which identifies these tokens. */
const tokenSeconds = 3607;
/** Mode of the files in the volume: 0644. */
const fileMode = 0o644;

/** Whether the token is mounted automatically: by the pod or else by the account; true by default. */
export function mountsToken(account: ServiceAccount, spec: PodSpecValue): boolean {
  return spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
}

/**
 * Adds a volume with the token, the CA certificate of the server and the name of the namespace, and mounts it in every container
 * without a mount at its path. An existing volume with the name prefix is used. The pod isn't validated yet: containers and names
 * may be missing.
 *
 * @param randomInt returns a random integer of at least 0 and less than its argument.
 */
export function mountToken(
  spec: PodSpecValue,
  vocabulary: Vocabulary,
  randomInt: (below: number) => number,
): void {
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
