import { since } from "../../base/release-rows.ts";
import { struct } from "./v1.ts";
import { field, int64, list, string, time } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { CustomResourceDefinitionNames } from "./names.ts";

/**
 * Returns the condition type that reports whether a definition in a protected group was approved; it starts with the
 * product's name.
 */
export function approvalCondition({ name }: Vocabulary): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}APIApprovalPolicyConformant`;
}

const CustomResourceDefinitionCondition = struct(
  "CustomResourceDefinitionCondition",
  "A condition of a CustomResourceDefinition.",
  {
    type: field(1, string, "Type of the condition, such as Established.")
      .declaredRequired()
      .knownValues("Established", approvalCondition, "NamesAccepted", "NonStructuralSchema", "Terminating"),
    status: field(2, string, "Status of the condition: True, False or Unknown.")
      .declaredRequired()
      .knownValues("False", "True", "Unknown"),
    lastTransitionTime: field(3, time, "Time of the last change of `status`.").emitEmpty(),
    reason: field(4, string, "Machine-readable reason in CamelCase."),
    message: field(5, string, "Human-readable details."),
  },
  {
    later: () => ({
      observedGeneration: since(
        "1.35",
        field(6, int64, "Generation of the definition that was observed.").gated(
          "CRDObservedGenerationTracking",
        ),
      ),
    }),
  },
);

export const CustomResourceDefinitionStatus = struct(
  "CustomResourceDefinitionStatus",
  "The observed state of a definition.",
  {
    conditions: field(
      1,
      list(CustomResourceDefinitionCondition),
      "Conditions of the definition, such as Established.",
    )
      .emitEmpty()
      .mapBy("type"),
    acceptedNames: field(
      2,
      CustomResourceDefinitionNames,
      "Names under which the resource is served.",
    ).emitEmpty(),
    storedVersions: field(3, list(string), "Versions in which objects have ever been stored.")
      .emitEmpty()
      .atomic(),
  },
  {
    later: () => ({
      observedGeneration: since(
        "1.35",
        field(4, int64, "Generation of the definition that was observed.").gated(
          "CRDObservedGenerationTracking",
        ),
      ),
    }),
  },
);
