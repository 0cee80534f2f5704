// Loaded into the services of a known-bad build: edits the text of one module as it is loaded. No product code knows.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { GRAPH_BUILDS } from './graph-builds.ts'
import { applyEdits, KNOWN_BAD } from './known-bad.ts'

const name = process.env['BATON_CHAOS_KNOWN_BAD']
const build = [...KNOWN_BAD, ...GRAPH_BUILDS].find((one) => one.name === name)

if (build !== undefined) {
  registerHooks({
    load(url, context, nextLoad) {
      const edits = build.edits.filter(({ file }) => url.endsWith(`/${file}`))
      if (edits.length === 0) return nextLoad(url, context)
      const source = applyEdits(readFileSync(fileURLToPath(url), 'utf8'), edits)
      return { ...nextLoad(url, context), source }
    },
  })
}
