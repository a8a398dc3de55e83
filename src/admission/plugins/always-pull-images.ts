import type { Cause } from "../../base/status-error.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { concernsPods, type AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";
import { containersOf, podOf } from "../pod-spec.ts";

/**
 * AlwaysPullImages: sets the pull policy `Always` in the containers of new pods and of pods with a new image (spec: conventions
 * 4.13). So a pod can't use a private image that another pod has pulled to the node.
 */
export function alwaysPullImages(): AdmissionPlugin {
  return {
    name: "AlwaysPullImages",
    concerns: concernsPods("CREATE", "UPDATE"),
    mutate(request) {
      if (bringsNoImage(request)) return;
      for (const { container } of containersOf(podOf(request).spec)) container.imagePullPolicy = "Always";
    },
    validate(request) {
      if (bringsNoImage(request)) return;
      const causes: Cause[] = [];
      for (const { container, path } of containersOf(podOf(request).spec)) {
        const { imagePullPolicy = "" } = container;
        if (imagePullPolicy === "Always") continue;
        const message = `Unsupported value: ${JSON.stringify(imagePullPolicy)}: supported values: "Always"`;
        causes.push({ reason: "FieldValueNotSupported", message, field: `${path}.imagePullPolicy` });
      }
      if (causes.length === 0) return;
      const why = causes.map(({ field, message }) => `${field}: ${message}`).join(", ");
      throw forbidden(request.target, causes.length === 1 ? why : `[${why}]`);
    },
  };
}

/** Whether a request updates a pod without a new image. */
function bringsNoImage(request: AdmissionRequest): boolean {
  const { operation, live } = request;
  if (operation !== "UPDATE" || live === undefined) return false;
  const before = new Set(
    containersOf(podOf({ ...request, object: live }).spec).map(({ container }) => container.image),
  );
  return containersOf(podOf(request).spec).every(({ container }) => before.has(container.image));
}
