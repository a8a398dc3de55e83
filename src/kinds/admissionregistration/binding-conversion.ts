import type { ApiObject, Conversion, Kind } from "../../schema/kind.ts";

interface ParamRef {
  parameterNotFoundAction?: string;
}

/**
 * Returns the conversion of bindings of policies to the stored version, `v1alpha1`, and back. The versions have the same fields, but only in
 * `v1alpha1` does `parameterNotFoundAction` have a default. In the other versions it is required: an absent one is stored empty, which gets no
 * default and fails validation.
 */
export function bindingConversion(stored: () => Kind): Conversion {
  return {
    stored,
    toStored(object) {
      const paramRef = paramRefOf(object);
      if (paramRef !== undefined) paramRef.parameterNotFoundAction ??= "";
      return object;
    },
    fromStored(object) {
      const paramRef = paramRefOf(object);
      if (paramRef?.parameterNotFoundAction === "") delete paramRef.parameterNotFoundAction;
      return object;
    },
  };
}

function paramRefOf(object: ApiObject): ParamRef | undefined {
  const spec = object["spec"] as { readonly paramRef?: ParamRef } | undefined;
  return spec?.paramRef;
}
