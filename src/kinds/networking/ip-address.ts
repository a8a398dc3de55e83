import * as v1 from "./v1.ts";
import * as v1alpha1 from "./v1alpha1.ts";
import * as v1beta1 from "./v1beta1.ts";
import { dnsSubdomainFaults, pathSegmentFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Conversion, Declarations, ObjectFor } from "../../schema/kind.ts";
import { replacedIn } from "../../schema/added-fields.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, string } from "../../schema/types.ts";
import { canonicalAddress, isAddress } from "../checks/addresses.ts";
import { unchanged } from "../checks/values.ts";
import { nameColumn } from "../columns.ts";
import type { networking } from "../groups.ts";
import { sameFields } from "../same-fields.ts";

interface Parent {
  readonly group?: string | undefined;
  readonly resource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** Declares IPAddress in one version of the group. */
function declareIPAddress<const V extends string>(
  { kind, struct }: Declarations<typeof networking, V>,
  version: { readonly servedByDefault: boolean; readonly conversion?: Conversion },
) {
  const resource = field(2, string, "Resource type of the object.");
  const name = field(4, string, "Name of the object.");
  const parent = struct(
    "ParentReference",
    "A reference to the object that uses an address.",
    {
      group: field(1, string, "Group of the object; empty for the core group."),
      resource,
      namespace: field(3, string, "Namespace of the object."),
      name,
    },
    {
      later: () => ({
        resource: replacedIn("1.30", resource.publishedRequired()),
        name: replacedIn("1.30", name.publishedRequired()),
      }),
    },
  );
  const parentRef = field(1, parent, "The object that uses the address; immutable.").nullable();
  const spec = struct(
    "IPAddressSpec",
    "The object that uses an address.",
    { parentRef },
    { later: () => ({ parentRef: replacedIn("1.30", parentRef.publishedRequired()) }) },
  );
  const use = field(2, spec, "The object that uses the address.");
  return kind({
    name: "IPAddress",
    resource: "ipaddresses",
    singular: "ipaddress",
    shortNames: ["ip"],
    scope: "Cluster",
    nameForm: "pathSegment",
    ...version,
    doc: "An IP address in use; the name is the address in canonical form.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the address.").emitEmpty(),
      spec: use.emitEmpty(),
    },
    later: () => ({ spec: replacedIn("1.36", use.declaredRequired()) }),
    validate({ metadata, spec: input }, report) {
      checkAddress(metadata.name ?? "", report.at("metadata", "name"));
      checkParent(input?.parentRef, report.at("spec", "parentRef"));
    },
    validateUpdate({ spec: now }, live, report) {
      unchanged(now?.parentRef, live.spec?.parentRef, report.at("spec", "parentRef"));
    },
    columns: [
      nameColumn,
      {
        name: "ParentRef",
        type: "string",
        doc: "The object that uses the address.",
        cell: ({ spec: input }) => parentText(input?.parentRef),
      },
    ],
  });
}

function checkAddress(name: string, report: FieldReport): void {
  if (name === "" || name.includes("/") || name.includes("%")) return;
  if (!isAddress(name)) {
    return report.invalid(name, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
  const canonical = canonicalAddress(name);
  if (canonical !== name) report.invalid(name, `must be in canonical form ("${canonical}")`);
}

function checkParent(parent: Parent | undefined, report: FieldReport): void {
  if (parent === undefined) return report.required();
  const { group = "", resource = "", namespace = "", name = "" } = parent;
  if (group !== "")
    for (const message of dnsSubdomainFaults(group)) report.at("group").invalid(group, message);
  for (const [member, value] of Object.entries({ resource, name })) {
    if (value === "") report.at(member).required();
  }
  for (const [member, value] of Object.entries({ resource, name, namespace })) {
    for (const message of pathSegmentFaults(value)) report.at(member).invalid(value, message);
  }
}

function parentText(parent: Parent | undefined): string {
  if (parent === undefined) return "<none>";
  const { group = "", resource = "", namespace = "", name = "" } = parent;
  const type = [resource, group].filter((part) => part !== "").join(".");
  return [type.toLowerCase(), namespace, name].filter((part, index) => index !== 1 || part !== "").join("/");
}

/** Release 1.33 and later; the stored version. */
export const IPAddressV1 = declareIPAddress(v1, { servedByDefault: true });
export type IPAddressV1 = ObjectFor<typeof IPAddressV1>;

const conversion = sameFields(() => IPAddressV1);

/** Release 1.31 and later. */
export const IPAddressV1beta1 = declareIPAddress(v1beta1, { servedByDefault: false, conversion });
export type IPAddressV1beta1 = ObjectFor<typeof IPAddressV1beta1>;

/** Release 1.27 and later. */
export const IPAddressV1alpha1 = declareIPAddress(v1alpha1, { servedByDefault: false, conversion });
export type IPAddressV1alpha1 = ObjectFor<typeof IPAddressV1alpha1>;
