import type { PodSpecValue } from "../../../src/admission/pod-spec.ts";

/** A security context that the level `restricted` allows. */
const restrictedContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};

/** The spec of a pod that the level `restricted` allows, with other members. */
export function restrictedSpec(members: object = {}): PodSpecValue {
  const containers = [{ name: "c", image: "example.com/image:1", securityContext: restrictedContext }];
  return { containers, ...members } as unknown as PodSpecValue;
}

/** As {@link restrictedSpec}, with a container that has other members in its security context. */
export function withContext(securityContext: object, members: object = {}): PodSpecValue {
  const containers = [
    {
      name: "c",
      image: "example.com/image:1",
      securityContext: { ...restrictedContext, ...securityContext },
    },
  ];
  return restrictedSpec({ containers, ...members });
}
