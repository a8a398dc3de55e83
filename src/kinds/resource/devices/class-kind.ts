import { since } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field, list, string, type LaterFields } from "../../../schema/types.ts";
import { same } from "../../checks/values.ts";
import { ageColumn, nameColumn } from "../../columns.ts";
import { isExtended } from "../../core/pod/resource-names.ts";
import type { VersionMembers } from "./claim-kinds.ts";
import { checkSelectors, expressionsOfSelectors, type Selector } from "./claim-rules.ts";
import { configurationFields } from "./claim-structs.ts";
import { declareCommonStructs } from "./common-structs.ts";
import { configuration, type Configuration } from "./config-rules.ts";
import { limitedList } from "./list-rules.ts";
import { checkExpressions } from "./selector-rules.ts";
import type { DeviceVersion } from "./versions.ts";

interface ClassSpec {
  readonly selectors?: readonly Selector[] | undefined;
  readonly config?: readonly Configuration[] | undefined;
  readonly extendedResourceName?: string | undefined;
}

const maxConfigurations = 32;

/** Declares DeviceClass in one version. */
export function declareDeviceClass(version: DeviceVersion, members: VersionMembers) {
  return version.declarations.kind({
    name: "DeviceClass",
    resource: "deviceclasses",
    collection: "deviceclasses.v1",
    singular: "deviceclass",
    scope: "Cluster",
    returnsDeletedObject: true,
    ...members,
    doc: "A class of devices: selectors and configuration.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the class.").emitEmpty(),
      spec: field(2, declareClassSpec(version), "Selectors and configuration of the class.").emitEmpty(),
    },
    generationOf: ({ spec }) => spec,
    validate({ spec }, report, context) {
      checkClassSpec((spec ?? {}) as ClassSpec, report.at("spec"), context);
    },
    validateLast({ spec }, live, report, context) {
      return checkClassExpressions(
        (spec ?? {}) as ClassSpec,
        live?.spec as ClassSpec | undefined,
        report.at("spec", "selectors"),
        context,
      );
    },
    columns: [nameColumn, ageColumn],
  });
}

function declareClassSpec(version: DeviceVersion) {
  const { struct } = version.declarations;
  const common = declareCommonStructs(version.declarations);
  const configurationStruct = struct(
    "DeviceClassConfiguration",
    "Configuration of the devices of a class.",
    configurationFields(version, common, 1),
  );
  return struct(
    "DeviceClassSpec",
    "Selectors and configuration of a class.",
    {
      selectors: field(
        1,
        list(common.selector),
        "Selectors that must all match a device; at most 32.",
      ).atomic(),
      config: field(2, list(configurationStruct), "Driver-specific configuration; at most 32.").atomic(),
    },
    {
      later: (): LaterFields => ({
        extendedResourceName: since(
          "1.34",
          field(4, string, "Name of an extended resource with which containers can request the devices.")
            .nullable()
            .gated("DRAExtendedResource"),
        ),
      }),
    },
  );
}

function checkClassSpec(
  { selectors, config, extendedResourceName }: ClassSpec,
  report: FieldReport,
  context: KindContext,
): void {
  checkSelectors(selectors, report.at("selectors"));
  limitedList(config, maxConfigurations, report.at("config"), configuration);
  if (extendedResourceName !== undefined && !isExtended(extendedResourceName, context)) {
    report.at("extendedResourceName").invalid(extendedResourceName, "must be a valid extended resource name");
  }
}

function checkClassExpressions(
  { selectors }: ClassSpec,
  live: ClassSpec | undefined,
  report: FieldReport,
  context: KindContext,
): Promise<void> | undefined {
  if (live !== undefined && same(selectors, live.selectors)) return undefined;
  return checkExpressions(expressionsOfSelectors(selectors, report), context);
}
