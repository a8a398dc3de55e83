import type { Column } from "../../schema/columns.ts";
import type { ApiObject, Conversion } from "../../schema/kind.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkNotStatic } from "./static-names.ts";
import type { AdmissionDeclarations } from "./match-resources.ts";

/** The functions that declare the structs of a version of the group. */
export type Structs = Pick<AdmissionDeclarations, "struct" | "atomicStruct">;

/** A version of a kind of policies or bindings. */
export interface PolicyVersion {
  readonly servedByDefault: boolean;
  /** For a version other than the stored one. */
  readonly conversion?: Conversion;
}

/** A version of a kind of bindings. */
export interface BindingVersion extends PolicyVersion {
  /** Whether `parameterNotFoundAction` has the default `Deny`; otherwise it is required. */
  readonly hasDefaultAction?: boolean;
}

/** Returns the members that the kinds of policies and bindings have in common. */
export function policyKindMembers({ servedByDefault, conversion }: PolicyVersion) {
  return {
    categories: ["api-extensions"],
    scope: "Cluster",
    anyFinalizer: true,
    allowUnconditionalUpdate: false,
    servedByDefault,
    validateCreate: checkNotStatic,
    generationOf: ({ spec }: { readonly spec?: unknown }) => spec,
    ...(conversion === undefined ? {} : { conversion }),
  } as const;
}

interface ParamKind {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
}

type WithPolicySpec = ApiObject & {
  readonly spec?:
    | {
        readonly paramKind?: ParamKind | undefined;
        readonly validations?: readonly unknown[] | null | undefined;
        readonly mutations?: readonly unknown[] | undefined;
      }
    | undefined;
};

/**
 * Returns the columns of policies.
 *
 * @param count name and description of the column with the number of `items`.
 */
export function policyColumns(
  items: "validations" | "mutations",
  count: { readonly name: string; readonly doc: string },
): Column<WithPolicySpec>[] {
  return [
    nameColumn,
    { type: "integer", ...count, cell: ({ spec }) => (spec?.[items] ?? []).length },
    {
      name: "ParamKind",
      type: "string",
      doc: "Kind of the parameters.",
      cell: ({ spec }) => paramKindText(spec?.paramKind),
    },
    ageColumn,
  ];
}

function paramKindText(paramKind: ParamKind | undefined): string {
  return paramKind === undefined ? "<unset>" : `${paramKind.apiVersion ?? ""}/${paramKind.kind ?? ""}`;
}

/** The part of a reference to parameters that a table shows. */
export interface ParamRef {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

type WithBindingSpec = ApiObject & {
  readonly spec?:
    { readonly policyName?: string | undefined; readonly paramRef?: ParamRef | undefined } | undefined;
};

/**
 * Returns the columns of bindings.
 *
 * @param paramText formats the reference to the parameters.
 */
export function bindingColumns(
  paramText: (paramRef: ParamRef | undefined) => string,
): Column<WithBindingSpec>[] {
  return [
    nameColumn,
    {
      name: "PolicyName",
      type: "string",
      doc: "Name of the policy.",
      cell: ({ spec }) => spec?.policyName ?? "",
    },
    {
      name: "ParamRef",
      type: "string",
      doc: "The object with the policy's parameters.",
      cell: ({ spec }) => paramText(spec?.paramRef),
    },
    ageColumn,
  ];
}
