import { andThen } from "../../base/maybe-promise.ts";
import { IngressClass } from "../../kinds/networking/ingress-class.ts";
import { Ingress } from "../../kinds/networking/ingress.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsOnly } from "../admitted-types.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { AdmissionFacts } from "../followed-objects.ts";
import { forbidden } from "../forbidden.ts";

/**
 * DefaultIngressClass: a new Ingress that names no class gets the default one; none when there is no default; is rejected when
 * there are several (spec: conventions 4.13).
 */
export function defaultIngressClass(facts: AdmissionFacts, { domain }: Vocabulary): AdmissionPlugin {
  const mark = `ingressclass.${domain}/is-default-class`;
  const annotation = `${domain}/ingress.class`;
  const classes = facts.of(IngressClass, ({ metadata }) => ({
    name: metadata.name!,
    isDefault: metadata.annotations?.[mark] === "true",
  }));
  return {
    name: "DefaultIngressClass",
    concerns: concernsOnly([Ingress], "CREATE"),
    mutate({ object, target }) {
      const ingress = object as unknown as Ingress;
      if (ingress.spec?.ingressClassName !== undefined) return;
      if (ingress.metadata.annotations?.[annotation] !== undefined) return;
      return andThen(classes.in(""), (all) => {
        const defaults = all.filter(({ isDefault }) => isDefault);
        if (defaults.length > 1) {
          throw forbidden(
            target,
            `Internal error occurred: ${defaults.length} default IngressClasses were found`,
          );
        }
        const [found] = defaults;
        if (found !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: found.name };
      });
    },
  };
}
