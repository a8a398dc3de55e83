import { docsSchema } from "@astrojs/starlight/schema";
import { defineCollection } from "astro:content";
import { pageLoader } from "./page-loader.mjs";

export const collections = {
  docs: defineCollection({ loader: pageLoader(), schema: docsSchema() }),
};
