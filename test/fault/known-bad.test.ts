// Every known-bad build edits today's source: a text to replace that has moved fails here, not silently in a campaign.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripTypeScriptTypes } from 'node:module'
import { expect, it } from 'vitest'
import { GRAPH_BUILDS } from '../chaos/graph-builds.ts'
import { applyEdits, KNOWN_BAD } from '../chaos/known-bad.ts'

const ROOT = join(import.meta.dirname, '..', '..')

it.each([...KNOWN_BAD, ...GRAPH_BUILDS])(
  '$name changes each place exactly once and still is a program',
  ({ edits }) => {
    for (const [file, ofFile] of Map.groupBy(edits, (edit) => edit.file)) {
      const source = readFileSync(join(ROOT, file), 'utf8')
      for (const { find } of ofFile ?? []) expect(source.split(find)).toHaveLength(2)
      const edited = applyEdits(source, ofFile ?? [])
      expect(edited).not.toBe(source)
      expect(() => stripTypeScriptTypes(edited)).not.toThrow()
    }
  },
)

it('knows sixteen builds by sixteen names', () => {
  const builds = [...KNOWN_BAD, ...GRAPH_BUILDS]
  expect(new Set(builds.map(({ name }) => name)).size).toBe(16)
})
