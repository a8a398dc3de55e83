import type { Kind } from "../../../schema/kind.ts";
import * as v1 from "../v1.ts";
import * as v1alpha3 from "../v1alpha3.ts";
import * as v1beta1 from "../v1beta1.ts";
import * as v1beta2 from "../v1beta2.ts";
import { declareResourceClaim, declareResourceClaimTemplate } from "./claim-kinds.ts";
import { declareDeviceClass } from "./class-kind.ts";
import { claimConversion, sliceConversion } from "./first-version.ts";
import { sameFields } from "../../same-fields.ts";
import { declareResourcePoolStatusRequest } from "./pool-status-kind.ts";
import { declareResourceSlice } from "./slice-kind.ts";
import { declareDeviceTaintRule } from "./taint-rule-kind.ts";
import type { DeviceVersion } from "./versions.ts";

const first: DeviceVersion = { declarations: v1beta1, isFirst: true };
const second: DeviceVersion = { declarations: v1beta2, isFirst: false };
const stable: DeviceVersion = { declarations: v1, isFirst: false };
const stored = { servedByDefault: true };

/** Release 1.34 and later; the stored versions. */
export const DeviceClassV1: Kind = declareDeviceClass(stable, stored);
export const ResourceClaimV1: Kind = declareResourceClaim(stable, stored);
export const ResourceClaimTemplateV1: Kind = declareResourceClaimTemplate(stable, stored);
export const ResourceSliceV1: Kind = declareResourceSlice(stable, stored);

const beta = (conversion: ReturnType<typeof sameFields>) => ({ servedByDefault: false, conversion });

/** Release 1.33 and later. */
export const DeviceClassV1beta2: Kind = declareDeviceClass(second, beta(sameFields(() => DeviceClassV1)));
export const ResourceClaimV1beta2: Kind = declareResourceClaim(
  second,
  beta(sameFields(() => ResourceClaimV1)),
);
export const ResourceClaimTemplateV1beta2: Kind = declareResourceClaimTemplate(
  second,
  beta(sameFields(() => ResourceClaimTemplateV1)),
);
export const ResourceSliceV1beta2: Kind = declareResourceSlice(
  second,
  beta(sameFields(() => ResourceSliceV1)),
);

/** Release 1.32 and later. */
export const DeviceClassV1beta1: Kind = declareDeviceClass(first, beta(sameFields(() => DeviceClassV1)));
export const ResourceClaimV1beta1: Kind = declareResourceClaim(
  first,
  beta(claimConversion(() => ResourceClaimV1, ["devices"])),
);
export const ResourceClaimTemplateV1beta1: Kind = declareResourceClaimTemplate(
  first,
  beta(claimConversion(() => ResourceClaimTemplateV1, ["spec", "devices"])),
);
export const ResourceSliceV1beta1: Kind = declareResourceSlice(
  first,
  beta(sliceConversion(() => ResourceSliceV1)),
);

/** Release 1.37 and later; the stored version. */
export const DeviceTaintRuleV1: Kind = declareDeviceTaintRule(stable, {
  ...stored,
  allowUnconditionalUpdate: false,
  returnsDeletedObject: false,
});

const earlierRule = {
  ...beta(sameFields(() => DeviceTaintRuleV1)),
  allowUnconditionalUpdate: true,
  returnsDeletedObject: true,
};

/** Release 1.36 and later. */
export const DeviceTaintRuleV1beta2: Kind = declareDeviceTaintRule(second, earlierRule);

/** Release 1.33 and later. */
export const DeviceTaintRuleV1alpha3: Kind = declareDeviceTaintRule(
  { declarations: v1alpha3, isFirst: false },
  earlierRule,
);

/** Release 1.36 and later. */
export const ResourcePoolStatusRequestV1alpha3: Kind = declareResourcePoolStatusRequest(v1alpha3);
