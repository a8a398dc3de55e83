import { platform } from "../../src/vocabulary/platform.ts";

export const context = { vocabulary: platform, enabled: () => false, subresource: "" };
