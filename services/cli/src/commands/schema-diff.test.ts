// `schema diff` says whether two versions are compatible, by its exit code too.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOutput } from '../terminal/output.ts'
import { schemaDiff } from './schema-diff.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-schema-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function diff(older: string, newer: string, json = false) {
  const written: string[] = []
  const stream = { write: (text: string | Uint8Array) => written.push(String(text)) }
  const output = createOutput({ stdout: stream, stderr: stream }, json)
  const exitCode = await schemaDiff({ output }, older, newer)
  return { exitCode, text: written.join('') }
}

it('reads published versions, and says whether they are compatible', async () => {
  const forward = await diff('2.0', '2.1')
  expect(forward.exitCode).toBe(0)
  expect(forward.text).toMatch(/\/residency +is new and optional +-/)
  expect(forward.text).toContain('compatible')
  const back = await diff('handoff/2.1', 'handoff/2.0')
  expect(back.exitCode).toBe(1)
  expect(back.text).toMatch(/\/residency +is removed +older messages/)
  expect(back.text).toContain('not compatible')
})

it('reads files, and answers as JSON', async () => {
  const [older, newer] = [join(folder, 'a.json'), join(folder, 'b.json')]
  await writeFile(older, JSON.stringify({ properties: { a: { type: 'string' } } }))
  await writeFile(newer, JSON.stringify({ properties: { a: { type: 'integer' } } }))
  const { exitCode, text } = await diff(older, newer, true)
  expect(exitCode).toBe(1)
  expect(JSON.parse(text)).toEqual({
    compatible: false,
    changes: [
      {
        pointer: '/a',
        change: 'type was "string" and is "integer"',
        breaks: ['older messages', 'older receivers'],
      },
    ],
  })
  expect((await diff(older, older)).exitCode).toBe(0)
})

it('says what it cannot read', async () => {
  const text = join(folder, 'c.json')
  await writeFile(text, '[]')
  for (const named of ['handoff/9.9', join(folder, 'none.json'), text])
    await expect(diff(named, '2.1')).rejects.toMatchObject({ code: 'BATON_USAGE' })
})
