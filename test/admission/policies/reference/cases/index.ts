import type { Case } from "../case.ts";
import { authorizerCases } from "./authorizer.ts";

export const cases: readonly Case[] = [...authorizerCases];
