// Checkpoint, decision record and dead letter: their fixtures get the verdict of their folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('.', import.meta.resolve('@baton/schemas/package.json')))
const read = (path: string) => JSON.parse(readFileSync(`${ROOT}${path}`, 'utf8'))

describe.each([
  ['checkpoint', '1'],
  ['decision-record', '1'],
  ['decision-record', '1.1'],
  ['decision-record', '1.2'],
  ['dead-letter', '1'],
])('%s/%s', (name, version) => {
  const ajv = new Ajv2020({ strict: true, ownProperties: true })
  addFormats.default(ajv, { mode: 'full', formats: ['date-time'] })
  const validate = ajv.compile(read(`${name}/${version}.json`))

  // Those of every version, and what only this one knows.
  const folders = [name, `${name}/${version}`].flatMap((folder) =>
    ['valid', 'invalid'].map((kind) => ({ kind, folder: `fixtures/${folder}/${kind}` })),
  )
  const files = folders
    .filter(({ folder }) => existsSync(`${ROOT}${folder}`))
    .flatMap(({ kind, folder }) =>
      readdirSync(`${ROOT}${folder}`).map((file) => ({ kind, file: `${folder}/${file}` })),
    )
  it.each(files)('$kind $file', ({ kind, file }) => {
    expect(validate(read(file))).toBe(kind === 'valid')
  })
})
