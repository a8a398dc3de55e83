import type { Declarations } from "../../../schema/kind.ts";
import type { StructType } from "../../../schema/types.ts";
import type { resource } from "../../groups.ts";

/** The functions that declare the kinds of a version, without its name in their static types. */
export type DeviceDeclarations = Declarations<typeof resource, string>;

/**
 * Versions of the kinds of devices: v1beta1 (release 1.32), v1beta2 (1.33) and v1 (1.34), which is stored. v1beta1 has the members of an
 * exact request beside its name, and the members of a device in `basic`; v1beta2 has the fields of v1.
 */
export interface DeviceVersion {
  readonly declarations: DeviceDeclarations;
  readonly isFirst: boolean;
}

/** A struct without the static types of its fields: they differ between the versions, and rules have interfaces for them. */
export type DeviceStruct = StructType<Readonly<Record<never, never>>>;
