import { makeName } from "../../../base/names.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import type { ServiceAccount } from "../../../kinds/core/service-account.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { PodSpecValue } from "../../pod-spec.ts";

type Volume = NonNullable<PodSpecValue["volumes"]>[number];

/** Seconds for which tokens in pods are valid: an hour, and a little more by which they are told from others. */
const tokenSeconds = 3607;
/** Permissions of the files in the volume: 0644. */
const fileMode = 0o644;

/** Whether the containers of a pod get the token of its account without asking: as the pod says, else as the account says. */
export function mountsToken(account: ServiceAccount, spec: PodSpecValue): boolean {
  return spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
}

/**
 * Gives a pod a volume with the token of its account, the server's authority and the pod's namespace, and every container
 * that has nothing at its place a mount of it. A volume whose name begins like that of such a one is taken to be it.
 *
 * The pod isn't validated yet: containers and names may be missing.
 *
 * @param randomInt gives a random integer from 0 up to, not including, its argument.
 */
export function mountToken(
  spec: PodSpecValue,
  vocabulary: Vocabulary,
  randomInt: (below: number) => number,
): void {
  const { domain, tokenVolumePrefix } = vocabulary;
  const mountPath = `/var/run/secrets/${domain}/serviceaccount`;
  const containers: readonly Container[] = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const lacking = containers.filter(
    ({ volumeMounts = [] }) => !volumeMounts.some((mount) => mount.mountPath === mountPath),
  );
  if (lacking.length === 0) return;
  const given = spec.volumes?.find(({ name = "" }) => name.startsWith(tokenVolumePrefix));
  const name = given?.name ?? makeName(tokenVolumePrefix, randomInt);
  for (const container of lacking) {
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
  }
  if (given === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name, vocabulary)];
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
