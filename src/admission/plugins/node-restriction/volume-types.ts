import type { ApiObject } from "../../../schema/kind.ts";

/** A volume of a stored pod, by the names of its fields. */
export type Volume = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly projected?: { readonly sources?: readonly ProjectedSource[] } | null;
  readonly csi?: { readonly driver?: string } | null;
  readonly persistentVolumeClaim?: { readonly claimName?: string } | null;
};

/** A source of a projected volume; exactly one member is set. */
export interface ProjectedSource {
  readonly configMap?: unknown;
  readonly secret?: unknown;
  readonly serviceAccountToken?: { readonly audience?: string } | null;
  readonly clusterTrustBundle?: unknown;
  readonly podCertificate?: { readonly signerName?: string } | null;
  readonly downwardAPI?: unknown;
}

export function volumesOf(pod: ApiObject): readonly Volume[] {
  return (pod["spec"] as { readonly volumes?: readonly Volume[] }).volumes ?? [];
}

/** Returns the sources of all projected volumes of a pod. */
export function projectedSources(pod: ApiObject): readonly ProjectedSource[] {
  return volumesOf(pod).flatMap((volume) => volume.projected?.sources ?? []);
}

/** Whether a member of a volume or source is set. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
