import { Container, laterContainerFields } from "./container.ts";
import { fillPullPolicy } from "./image-name.ts";
import { struct } from "../v1.ts";
import { inlinedLater } from "../../../schema/later-fields.ts";
import { type Static, field, inlined, string } from "../../../schema/types.ts";

const EphemeralContainerCommon = struct(
  "EphemeralContainerCommon",
  "What a temporary container has in common with others.",
  Container.fields,
  { later: () => laterContainerFields },
);

export const EphemeralContainer = struct(
  "EphemeralContainer",
  "A container that is added to a running pod for inspection and isn't restarted.",
  {
    ...inlined(1, EphemeralContainerCommon),
    targetContainerName: field(2, string, "Container whose processes are shared with this one."),
  },
  {
    fill: fillPullPolicy,
    later: () => inlinedLater(1, laterContainerFields),
  },
);
export type EphemeralContainer = Static<typeof EphemeralContainer>;
