// The version rules of features 4.3, and the promise that published schemas never change.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import registry from '@baton/schemas/registry.json' with { type: 'json' }
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { sampleMessage, sampleScan } from '../fixtures/sample-handoff.ts'
import { readSchemaVersion } from './schema-version.ts'
import { judgeMessage } from './judge-message.ts'

const document = (path: string) =>
  readFileSync(fileURLToPath(import.meta.resolve(`@baton/schemas/${path}`)))

describe('E05 E29 schema version', () => {
  it.each([
    ['2.0', { ok: true, minor: 0, known: true }],
    ['2.1', { ok: true, minor: 1, known: true }],
    ['2.2', { ok: true, minor: 2, known: true }],
    ['2.3', { ok: true, minor: 3, known: false }],
    ['2.999999', { ok: true, minor: 999_999, known: false }],
  ])('accepts %s', (version, expected) => {
    expect(readSchemaVersion(version)).toEqual(expected)
  })

  it.each([
    '1.0',
    '3.0',
    '2',
    '2.',
    '2.00',
    '2.01',
    '2.0.0',
    ' 2.0',
    '2.0\n',
    'v2.0',
    '',
    2,
    null,
    undefined,
    {},
    `2.${'9'.repeat(300_000)}`,
  ])('refuses %j and says what it expects', (version) => {
    expect(readSchemaVersion(version)).toMatchObject({
      ok: false,
      detail: { pointer: '/schemaVersion', expected: '2.x' },
    })
  })

  it.each([
    [3, '2.0', false],
    [3, '2.1', true],
    [3, '2.2', true],
    [3, '2.4', true],
    [7, '2.4', false],
    [7, '2.5', true],
  ])(
    'is taken by a receiver of 2.%i where it is at most two minors older: %s %j',
    (newest, version, ok) => {
      expect(readSchemaVersion(version, newest).ok).toBe(ok)
    },
  )

  it('keeps unknown fields of a newer minor, but checks the known ones', () => {
    const newer = { ...sampleMessage({ schemaVersion: '2.5' }), futureField: [1] }
    expect(judgeMessage(newer, { scan: sampleScan })).toMatchObject({
      valid: true,
      message: { futureField: [1] },
    })
    expect(judgeMessage({ ...newer, priority: 9 }, { scan: sampleScan })).toMatchObject({
      reason: 'SCHEMA_INVALID',
    })
  })
})

describe('registry', () => {
  it.each(registry)('$path is unchanged and a sound schema', ({ id, path, sha256 }) => {
    const bytes = document(path)
    const schema = JSON.parse(bytes.toString())
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
    expect(schema.$id).toBe(id)
    expect(bytes.toString()).not.toContain('prefixItems')
    expect(new Ajv2020({ strict: true, validateFormats: false }).compile(schema)).toBeTypeOf(
      'function',
    )
  })

  it('lists every document once', () => {
    expect(new Set(registry.map(({ id }) => id)).size).toBe(registry.length)
  })

  it.each([
    ['2.1', '2.0'],
    ['2.2', '2.1'],
  ])('has in %s every field of %s, word for word', (...versions) => {
    const [newer, older] = versions.map((version) =>
      JSON.parse(document(`handoff/${version}.json`).toString()),
    )
    expect(newer.properties).toMatchObject(older.properties)
    expect(newer.$defs).toMatchObject(older.$defs)
    expect(newer.required).toEqual(older.required)
  })
})
