import { lives } from "./corpora.ts";
import { suiteOf } from "./suite.ts";

suiteOf(lives);
