import type { ApiObject } from "../../schema/kind.ts";
import type { ObjectConverter } from "./object-converter.ts";

/** Changes only the apiVersion of objects (strategy `None`; spec: conventions 9), for versions whose schemas differ. */
export const unchangedConverter: ObjectConverter = {
  keepsLabels: true,
  convert: (objects, apiVersion) =>
    Promise.resolve(objects.map((object): ApiObject => ({ ...object, apiVersion }))),
};
