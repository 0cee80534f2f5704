// Every process that sends or receives prepares the schemas first: nothing else is compiled for that.
import { expect, it, vi } from 'vitest'
import type * as Ajv from 'ajv/dist/2020.js'
import { prepareSchemas } from './schema-check.ts'

const { asked } = vi.hoisted(() => ({ asked: { compiled: [] as unknown[], judged: 0 } }))

vi.mock('ajv/dist/2020.js', async (read) => {
  const original = await read<typeof Ajv>()
  class WatchedAjv extends original.Ajv2020 {
    override compile(schema: never): never {
      asked.compiled.push((schema as { $id: string }).$id)
      return super.compile(schema) as never
    }
    override validateSchema(schema: never): boolean | Promise<unknown> {
      asked.judged += 1
      return super.validateSchema(schema)
    }
  }
  return { ...original, Ajv2020: WatchedAjv }
})

it('compiles the three published versions, without the schema of schemas, and once', () => {
  prepareSchemas()
  prepareSchemas()
  expect(asked.compiled).toEqual([
    expect.stringMatching(/handoff:2\.0$/),
    expect.stringMatching(/handoff:2\.1$/),
    expect.stringMatching(/handoff:2\.2$/),
  ])
  expect(asked.judged).toBe(0)
})
