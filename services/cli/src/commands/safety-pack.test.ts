// `safety pack` makes of a model what a process with the public key takes, and nothing of a model that fails its tests.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openArtefact, readArtefactKeys } from '@baton/engine'
import { EMBEDDED_MODEL, formatArtefact } from '@baton/safety'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Context } from '../context.ts'
import { createOutput } from '../terminal/output.ts'
import { makeArtefactKey, safetyPack } from './safety-pack.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-pack-'))
})
afterAll(() => rm(folder, { recursive: true }))

function capture() {
  const written: string[] = []
  const stream = { write: (line: string | Uint8Array) => written.push(String(line)) }
  const output = createOutput({ stdout: stream, stderr: stream }, true)
  return { output, json: () => JSON.parse(written.find((line) => line.startsWith('{')) ?? '{}') }
}

function makeKey(): { readonly privateKey: string; readonly entry: string } {
  const { output, json } = capture()
  makeArtefactKey({ output }, 'ops/ann')
  return json()
}

const KEY = makeKey()
const OUT = () => join(folder, 'artefact')

async function pack(
  model: string | undefined,
  version: number,
  key: string | undefined,
  out = OUT(),
) {
  const { output, json } = capture()
  const settings = { BATON_SAFETY_SIGNING_KEY: key } as Context['settings']
  await safetyPack({ output, settings }, { model, version, out })
  return json()
}

async function fileOf(content: string): Promise<string> {
  const file = join(folder, 'given')
  await writeFile(file, content)
  return file
}

const opened = async () => openArtefact(await readFile(OUT()), readArtefactKeys(KEY.entry))

describe('safety pack', () => {
  it('signs a trained model, for whoever has the public key', async () => {
    const model = { ...EMBEDDED_MODEL, rejectAt: 2 * EMBEDDED_MODEL.flagAt }
    const trained = await fileOf(formatArtefact({ version: 1, model }))
    const said = await pack(trained, 3, KEY.privateKey)
    expect(said).toMatchObject({ version: 3, signedBy: 'ops/ann' })
    const artefact = await opened()
    expect(artefact).toMatchObject({ version: 3, signedBy: 'ops/ann' })
    expect(artefact.model.rejectAt).toBe(model.rejectAt)
    const other = readArtefactKeys(makeKey().entry)
    expect(() => openArtefact(Buffer.from(formatArtefact(artefact)), other)).toThrow(
      expect.objectContaining({ code: 'BATON_SAFETY_ARTEFACT_UNSIGNED' }),
    )
  })

  it('takes the model of an earlier artefact under a higher version: a step back', async () => {
    await pack(undefined, 4, KEY.privateKey)
    const earlier = await fileOf(await readFile(OUT(), 'utf8'))
    await pack(earlier, 9, KEY.privateKey)
    const { version, model } = await opened()
    expect(version).toBe(9)
    expect(Buffer.from(model.weights).equals(Buffer.from(EMBEDDED_MODEL.weights))).toBe(true)
  })

  it('writes nothing without a key, for what is no model, and for a model that fails its tests', async () => {
    await rm(OUT(), { force: true })
    const text = formatArtefact({
      version: 1,
      model: { ...EMBEDDED_MODEL, flagAt: 9e14, rejectAt: 9e14 },
    })
    await expect(pack(undefined, 1, undefined)).rejects.toMatchObject({ code: 'BATON_USAGE' })
    await expect(pack(await fileOf('weights'), 1, KEY.privateKey)).rejects.toMatchObject({
      code: 'BATON_USAGE',
    })
    await expect(pack(await fileOf(text), 1, KEY.privateKey)).rejects.toMatchObject({
      code: 'BATON_SAFETY_ARTEFACT_UNFIT',
      message: expect.stringContaining('6 of 6 attacks'),
    })
    await expect(readFile(OUT())).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('says where the artefact cannot be written', async () => {
    const out = join(folder, 'none', 'artefact')
    await expect(pack(undefined, 1, KEY.privateKey, out)).rejects.toMatchObject({
      code: 'BATON_FILE_NOT_WRITTEN',
      message: `${out} cannot be written`,
    })
  })
})
