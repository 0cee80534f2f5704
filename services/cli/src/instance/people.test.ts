// Every person of a development instance has a key of their own, made once, also in a home that is older than people.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PEOPLE, ensurePeople, peoplePath, readPerson } from './people.ts'
import { ensureSecrets, secretsPath } from './secrets.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-people-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('the people of an instance', () => {
  it('get their keys once, also from commands that start at the same time', async () => {
    const home = join(folder, 'once')
    const all = await Promise.all(Array.from({ length: 5 }, () => ensurePeople(home)))
    expect(new Set(all.map((keys) => JSON.stringify(keys))).size).toBe(1)
    expect(Object.keys(all[0] ?? {})).toEqual([...PEOPLE])
    expect(new Set(Object.values(all[0] ?? {})).size).toBe(PEOPLE.length)
    expect((await stat(peoplePath(home))).mode & 0o777).toBe(0o600)
  })

  it('come to a home that has had its secrets before, and change none of them', async () => {
    const home = join(folder, 'older')
    await ensureSecrets(home, {})
    const before = await readFile(secretsPath(home), 'utf8')
    expect((await ensurePeople(home))['reviewer-1']).toMatch(/^bk_reviewer-1_[\w-]{43}$/)
    expect(await readFile(secretsPath(home), 'utf8')).toBe(before)
  })

  it('are known by name, and nobody else is', () => {
    expect(readPerson('reviewer-2')).toBe('reviewer-2')
    expect(() => readPerson('root')).toThrow(expect.objectContaining({ code: 'BATON_USAGE' }))
  })
})
