// What only a folder meets that others write to; the cases of every backend stand in test/contract.
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { AWKWARD_IDS } from '../fixtures/awkward-ids.ts'
import { fileNamesOf, isHandoffFile } from './file-names.ts'
import { openFolder } from './folder-storage.ts'
import { createOffers } from './offers.ts'

const ROOT = mkdtempSync(join(tmpdir(), 'baton-offers-'))
afterAll(() => rmSync(ROOT, { recursive: true }))

let made = 0
const newFolder = (): string => join(ROOT, `folder-${(made += 1)}`, '.handoffs')

const SCAN = { description: 'Review', from_agent: 'scanner' }

it('names the folder that cannot be used, and how to mend it', async () => {
  const file = join(ROOT, 'a-file')
  await writeFile(file, '')
  const offers = createOffers({ storage: openFolder(file) })
  const refused = {
    code: 'BATON_OFFERS_FOLDER',
    message: `the folder ${file} cannot be used (ENOTDIR)`,
  }
  await expect(offers.createHandoff(SCAN)).rejects.toMatchObject(refused)
  await expect(offers.listHandoffs()).rejects.toMatchObject(refused)
})

describe('P14 the files', () => {
  it('are named by the id and hold the published fields, indented by two', async () => {
    const folder = newFolder()
    const offers = createOffers({ storage: openFolder(folder), now: () => 0 })
    await offers.createHandoff({ ...SCAN, task_id: 'Task-1', context: { file: 'a.py' } })
    expect(await readFile(join(folder, 'Task-1.json'), 'utf8')).toBe(`{
  "task_id": "Task-1",
  "from_agent": "scanner",
  "to_agent": "",
  "status": "offered",
  "description": "Review",
  "context": {
    "file": "a.py"
  },
  "created_at": "1970-01-01T00:00:00.000+00:00",
  "updated_at": "1970-01-01T00:00:00.000+00:00"
}`)
  })
  it('stay within the folder, whatever the id', async () => {
    const folder = newFolder()
    const offers = createOffers({ storage: openFolder(folder) })
    for (const id of AWKWARD_IDS) await offers.createHandoff({ ...SCAN, task_id: id })
    const parent = join(folder, '..')
    expect(await readdir(parent)).toEqual([basename(folder)])
    const names = await readdir(folder)
    expect(names.filter(isHandoffFile)).toHaveLength(AWKWARD_IDS.length)
    expect(await readdir(join(folder, '.baton'))).toEqual(['.gitignore', 'lock'])
  })
  it('are not led away by what others put in the place of the lock and the drafts', async () => {
    const elsewhere = newFolder()
    await mkdir(elsewhere, { recursive: true })
    await writeFile(join(elsewhere, 'x.draft'), 'kept')
    const folder = newFolder()
    const offers = createOffers({ storage: openFolder(folder) })
    const own = join(folder, '.baton')
    const refused = { code: 'BATON_OFFERS_FOLDER_UNSAFE' }
    await mkdir(folder, { recursive: true })
    await symlink(elsewhere, own)
    await expect(offers.createHandoff(SCAN)).rejects.toMatchObject(refused)
    expect(await readdir(elsewhere)).toEqual(['x.draft'])
    await rm(own)
    await mkdir(own)
    await symlink(join(elsewhere, 'made'), join(own, 'lock'))
    await expect(offers.createHandoff(SCAN)).rejects.toMatchObject(refused)
    await rm(join(own, 'lock'))
    await writeFile(join(own, 'lock'), 'no database')
    await expect(offers.createHandoff(SCAN)).rejects.toMatchObject(refused)
    await rm(join(own, 'lock'))
    await offers.createHandoff(SCAN)
    expect(await readdir(elsewhere)).toEqual(['x.draft'])
  })
  it('have names that every file system takes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 512 }), (id) => {
        for (const name of fileNamesOf(id)) {
          expect(basename(name)).toBe(name)
          expect(name).not.toMatch(/[\u0000-\u001f:\\/]|^\./)
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
        }
      }),
    )
  })
  it('of which one holds another id, are passed over: A.json may be a.json', async () => {
    const folder = newFolder()
    const offers = createOffers({ storage: openFolder(folder) })
    await offers.createHandoff({ ...SCAN, task_id: 'a' })
    // What opening A.json gives where capitals do not count.
    await rename(join(folder, 'a.json'), join(folder, 'A.json'))
    await offers.createHandoff({ ...SCAN, task_id: 'A' })
    expect((await offers.acceptHandoff('A', 'x')).task_id).toBe('A')
    expect(JSON.parse(await readFile(join(folder, 'A.json'), 'utf8')).task_id).toBe('a')
  })
})

describe('P14 foreign files', () => {
  it('are listed with the reason, and keep nothing else from being listed', async () => {
    const folder = newFolder()
    const offers = createOffers({ storage: openFolder(folder) })
    const { task_id: id } = await offers.createHandoff({ ...SCAN, task_id: 'good' })
    const text = await readFile(join(folder, 'good.json'), 'utf8')
    await Promise.all([
      writeFile(join(folder, 'copy of good.json'), text),
      writeFile(join(folder, 'half.json'), text.slice(0, 40)),
      writeFile(join(folder, 'list.json'), '[]'),
      writeFile(join(folder, 'binary.json'), Uint8Array.of(0xff, 0x00)),
      writeFile(join(folder, 'empty.json'), ''),
      writeFile(join(folder, 'huge.json'), Buffer.alloc(1_048_577, ' ')),
      writeFile(join(folder, 'pending.json'), text.replace('offered', 'pending')),
      mkdir(join(folder, 'folder.json')),
      symlink('/dev/zero', join(folder, 'link.json')),
      writeFile(join(folder, 'notes.txt'), 'no handoff'),
      writeFile(join(folder, '.hidden.json'), '{'),
    ])
    const { handoffs, foreign } = await offers.listHandoffs()
    expect(handoffs.map(({ task_id }) => task_id)).toEqual([id])
    expect(Object.fromEntries(foreign.map(({ name, reason }) => [name, reason]))).toEqual({
      'binary.json': 'is not UTF-8',
      'copy of good.json': 'is not named after its task_id',
      'empty.json': 'is not JSON',
      'folder.json': 'is no file',
      'half.json': 'is not JSON',
      'huge.json': 'is larger than 1048576 bytes',
      'link.json': 'cannot be opened (ELOOP)',
      'list.json': 'is not a JSON object',
      'pending.json': expect.stringContaining('has no status'),
    })
    expect((await offers.acceptHandoff(id, 'x')).status).toBe('accepted')
  })
  it('are left alone where they stand in the place of a new one', async () => {
    const folder = newFolder()
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'a.json'), 'mine')
    const offers = createOffers({ storage: openFolder(folder) })
    await offers.createHandoff({ ...SCAN, task_id: 'a' })
    expect((await offers.acceptHandoff('a', 'x')).status).toBe('accepted')
    expect(await readFile(join(folder, 'a.json'), 'utf8')).toBe('mine')
  })
  it('P18 count as handoffs where nothing is validated', async () => {
    const folder = newFolder()
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'a.json'), '{"task_id":"a","status":"offered","who":"me"}')
    const offers = createOffers({ storage: openFolder(folder), validation: 'lenient' })
    expect((await offers.acceptHandoff('a', 'x')).status).toBe('accepted')
    expect(JSON.parse(await readFile(join(folder, 'a.json'), 'utf8'))).toMatchObject({ who: 'me' })
    const strict = createOffers({ storage: openFolder(folder) })
    expect(await strict.listHandoffs()).toMatchObject({
      handoffs: [],
      foreign: [{ name: 'a.json' }],
    })
  })
})

it(
  'P15 a reader sees the text before or the one after, never a part',
  { timeout: 60_000 },
  async () => {
    const folder = newFolder()
    const offers = createOffers({ storage: openFolder(folder) })
    await offers.createHandoff({ ...SCAN, task_id: 'a', context: { text: 'x'.repeat(200_000) } })
    let isWriting = true
    const writing = (async () => {
      for (let round = 0; round < 30; round += 1) {
        await offers.acceptHandoff('a', 'b')
        await offers.failHandoff('a', { context: { round } })
        await offers.reofferHandoff('a')
      }
      isWriting = false
    })()
    let reads = 0
    while (isWriting) {
      const text = await readFile(join(folder, 'a.json'), 'utf8')
      expect(JSON.parse(text)).toMatchObject({
        task_id: 'a',
        context: { text: 'x'.repeat(200_000) },
      })
      reads += 1
    }
    await writing
    expect(reads).toBeGreaterThan(30)
  },
)

it('an empty or absent folder lists nothing, and listing makes none', async () => {
  const folder = newFolder()
  const offers = createOffers({ storage: openFolder(folder) })
  expect(await offers.listHandoffs()).toEqual({
    handoffs: [],
    foreign: [],
    next: null,
    total: 0,
    totalIsExact: true,
  })
  await expect(readdir(folder)).rejects.toThrow('ENOENT')
})
