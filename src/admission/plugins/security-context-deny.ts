import { concernsPods, type AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";
import { containersOf, podOf } from "../pod-spec.ts";

/**
 * SecurityContextDeny: rejects pods that set their user, groups or SELinux options (spec: conventions 4.13). Obsolete;
 * PodSecurity replaces it.
 */
export function securityContextDeny(): AdmissionPlugin {
  return {
    name: "SecurityContextDeny",
    concerns: concernsPods("CREATE", "UPDATE"),
    validate(request) {
      const { spec } = podOf(request);
      const { securityContext } = spec;
      const refuse = (what: string): never => {
        throw forbidden(request.target, `${what} is forbidden`);
      };
      if (securityContext?.supplementalGroups !== undefined) {
        refuse("pod.Spec.SecurityContext.SupplementalGroups");
      }
      if (securityContext?.seLinuxOptions !== undefined) refuse("pod.Spec.SecurityContext.SELinuxOptions");
      if (securityContext?.runAsUser !== undefined) refuse("pod.Spec.SecurityContext.RunAsUser");
      if (securityContext?.fsGroup !== undefined) refuse("pod.Spec.SecurityContext.FSGroup");
      for (const { container } of containersOf(spec)) {
        if (container.securityContext?.seLinuxOptions !== undefined) refuse("SecurityContext.SELinuxOptions");
        if (container.securityContext?.runAsUser !== undefined) refuse("SecurityContext.RunAsUser");
      }
    },
  };
}
