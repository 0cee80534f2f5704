// Builds the manual from what stage.ts laid out: offline, and so that a browser asks nobody but its own origin.
import { readFileSync } from 'node:fs'
import { satteri } from '@astrojs/markdown-satteri'
import starlight from '@astrojs/starlight'
import { defineConfig, passthroughImageService } from 'astro/config'
import { tablesForNarrowScreens } from './tables.mjs'

const staged = new URL('../../.baton/manual/', import.meta.url)
const sidebar = JSON.parse(readFileSync(new URL('sidebar.json', staged), 'utf8'))

export default defineConfig({
  publicDir: new URL('public/', staged).pathname,
  outDir: new URL('site/', staged).pathname,
  cacheDir: new URL('cache/', staged).pathname,
  trailingSlash: 'always',
  image: { service: passthroughImageService() },
  markdown: {
    processor: satteri({
      features: { smartPunctuation: false },
      hastPlugins: [tablesForNarrowScreens],
    }),
  },
  vite: { build: { assetsInlineLimit: 0 } },
  integrations: [
    starlight({
      title: 'Baton',
      sidebar,
      customCss: ['./style.css'],
      components: { Head: './src/head.astro', PageTitle: './src/page-title.astro' },
      lastUpdated: false,
      credits: false,
      disable404Route: false,
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      expressiveCode: {
        themes: ['github-dark', 'github-light'],
        frames: false,
        styleOverrides: { borderRadius: '6px' },
      },
    }),
  ],
})
