import type { Target } from "../target.ts";
import { celTarget, fieldPathTarget, jsonPathTarget, regularExpressionTarget } from "./expressions.ts";
import { cborTarget } from "./cbor.ts";
import { certificateRequestTarget, keyTarget, pemTarget } from "./certificates.ts";
import { extensionServerTarget } from "./extension-servers.ts";
import { fieldSetTarget } from "./field-sets.ts";
import { abacTarget, clientConfigurationTarget, configurationTarget, tokenFileTarget } from "./files.ts";
import { etcdMessageTarget, etcdValueTarget, recordTarget } from "./records.ts";
import { keyServiceTarget } from "./key-services.ts";
import { mediaTypeTarget, pathTarget, requestTarget, traceContextTarget } from "./requests.ts";
import { bootstrapTokenTarget, continueTokenTarget, tokenTarget } from "./tokens.ts";
import { webhookAnswerTarget } from "./webhook-answers.ts";
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
import { fieldSelectorTarget, labelSelectorTarget, shardSelectorTarget } from "./selectors.ts";
import { subscriptionTarget } from "./subscriptions.ts";
import { yamlTarget } from "./yaml.ts";

/** All targets, by name in alphabetical order. */
export const targets: readonly Target[] = [
  abacTarget,
  addressTarget,
  bootstrapTokenTarget,
  cborTarget,
  celTarget,
  certificateRequestTarget,
  clientConfigurationTarget,
  configurationTarget,
  continueTokenTarget,
  etcdMessageTarget,
  etcdValueTarget,
  extensionServerTarget,
  fieldSetTarget,
  keyServiceTarget,
  keyTarget,
  mediaTypeTarget,
  pathTarget,
  pemTarget,
  recordTarget,
  requestTarget,
  tokenFileTarget,
  tokenTarget,
  traceContextTarget,
  webhookAnswerTarget,
  durationTarget,
  envelopeTarget,
  fieldPathTarget,
  fieldSelectorTarget,
  shardSelectorTarget,
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
  subscriptionTarget,
  timestampTarget,
  urlTarget,
  yamlTarget,
].toSorted((a, b) => (a.name < b.name ? -1 : 1));
