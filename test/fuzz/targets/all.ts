import type { Target } from "../target.ts";
import { celTarget, jsonPathTarget, regularExpressionTarget } from "./expressions.ts";
import { jsonTarget } from "./json.ts";
import { jsonPatchTarget, mergePatchTarget, strategicMergeTarget } from "./patches.ts";
import { envelopeTarget, objectTarget, protobufTarget } from "./protobuf.ts";
import {
  addressTarget,
  durationTarget,
  nameTarget,
  quantityTarget,
  timestampTarget,
  urlTarget,
} from "./scalars.ts";
import { fieldSelectorTarget, labelSelectorTarget } from "./selectors.ts";
import { yamlTarget } from "./yaml.ts";

/** All targets, by name in alphabetical order. */
export const targets: readonly Target[] = [
  addressTarget,
  celTarget,
  durationTarget,
  envelopeTarget,
  fieldSelectorTarget,
  jsonPatchTarget,
  jsonPathTarget,
  jsonTarget,
  labelSelectorTarget,
  mergePatchTarget,
  nameTarget,
  objectTarget,
  protobufTarget,
  quantityTarget,
  regularExpressionTarget,
  strategicMergeTarget,
  timestampTarget,
  urlTarget,
  yamlTarget,
].toSorted((a, b) => (a.name < b.name ? -1 : 1));
