// Checkpoint, decision record and dead letter: their fixtures get the verdict of their folder.
import { readdirSync, readFileSync } from 'node:fs'
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

  const files = ['valid', 'invalid'].flatMap((kind) =>
    readdirSync(`${ROOT}fixtures/${name}/${kind}`).map((file) => ({ kind, file })),
  )
  it.each(files)('$kind $file', ({ kind, file }) => {
    expect(validate(read(`fixtures/${name}/${kind}/${file}`))).toBe(kind === 'valid')
  })
})
