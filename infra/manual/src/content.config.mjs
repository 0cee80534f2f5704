// The pages are where stage.ts laid them out.
import { glob } from 'astro/loaders'
import { defineCollection } from 'astro:content'
import { docsSchema } from '@astrojs/starlight/schema'

export const collections = {
  docs: defineCollection({
    loader: glob({
      base: new URL('../../../.baton/manual/pages/', import.meta.url),
      pattern: '**/*.md',
    }),
    schema: docsSchema(),
  }),
}
