import { objectAs } from "../../schema/api-object.ts";
import { labelKey } from "../../vocabulary/names.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";
import { IngressClass } from "../../kinds/networking/ingress-class.ts";
import { Ingress } from "../../kinds/networking/ingress.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsOnly, type AdmissionPlugin } from "../admission-chain.ts";
import { defaultClassFacts, defaultClassOf } from "../default-class.ts";
import type { AdmissionFacts } from "../followed-objects.ts";

/**
 * DefaultIngressClass: a new Ingress without a class gets the default class, if there is one (spec: conventions 4.13). Several
 * default classes: see {@link defaultClassOf}.
 */
export function defaultIngressClass(
  facts: AdmissionFacts,
  { domain, behavior }: Vocabulary,
): AdmissionPlugin {
  const marks = [labelKey(domain, "is-default-class", "ingressclass")];
  const annotation = labelKey(domain, "ingress.class");
  const classes = facts.of(IngressClass, (object) => defaultClassFacts(object, marks));
  return {
    name: "DefaultIngressClass",
    concerns: concernsOnly([Ingress], "CREATE"),
    mutate({ object, target }) {
      const ingress = objectAs<Ingress>(object!);
      const namesClass =
        ingress.spec?.ingressClassName !== undefined ||
        ingress.metadata.annotations?.[annotation] !== undefined;
      return andThen(classes.in(""), (all) => {
        const byDefault = defaultClassOf(all, target, "IngressClass", behavior);
        if (namesClass || byDefault === undefined) return;
        ingress.spec = { ...ingress.spec, ingressClassName: byDefault.name };
      });
    },
  };
}
