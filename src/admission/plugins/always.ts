import type { AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";

/** AlwaysAdmit: admits everything. Deprecated; has no effect. */
export function alwaysAdmit(): AdmissionPlugin {
  return { name: "AlwaysAdmit", concerns: () => false };
}

/** AlwaysDeny: rejects every write and every connection. Deprecated; for tests of clients. */
export function alwaysDeny(): AdmissionPlugin {
  return {
    name: "AlwaysDeny",
    concerns: () => true,
    mutate: ({ target }) => {
      throw forbidden(target, "admission control is denying all modifications");
    },
  };
}
