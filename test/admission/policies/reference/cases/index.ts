import type { Case } from "../case.ts";
import { configurationCases } from "./apply-configurations.ts";
import { authorizerCases } from "./authorizer.ts";
import { patchCases } from "./json-patches.ts";
import { roundCases } from "./mutation-rounds.ts";
import { writtenCases } from "./written-policies.ts";

export const cases: readonly Case[] = [
  ...authorizerCases,
  ...configurationCases,
  ...patchCases,
  ...roundCases,
  ...writtenCases,
];
