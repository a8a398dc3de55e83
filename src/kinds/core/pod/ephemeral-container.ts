import { Container, laterContainerFields } from "./container.ts";
import { fillPullPolicy } from "./image-name.ts";
import { struct } from "../v1.ts";
import { inlinedLater } from "../../../schema/later-fields.ts";
import { type Static, field, inlined, string } from "../../../schema/types.ts";

const EphemeralContainerCommon = struct(
  "EphemeralContainerCommon",
  "Fields that ephemeral containers share with other containers.",
  Container.fields,
  { later: () => laterContainerFields },
);

export const EphemeralContainer = struct(
  "EphemeralContainer",
  "A temporary container added to a running pod for debugging; it is never restarted.",
  {
    ...inlined(1, EphemeralContainerCommon),
    targetContainerName: field(2, string, "Name of the container whose process namespace is shared."),
  },
  {
    fill: fillPullPolicy,
    later: () => inlinedLater(1, laterContainerFields),
  },
);
export type EphemeralContainer = Static<typeof EphemeralContainer>;
