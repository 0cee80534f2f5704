// Development secrets are made once, for their owner only, and the environment overrules them.
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { newSecret } from '@baton/embedded'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ensureSecrets,
  PEOPLE,
  readGivenSecrets,
  readPerson,
  readSecrets,
  secretsPath,
} from './secrets.ts'
import { readPersonKey } from './person-key.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-secrets-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('secrets', () => {
  it('are made once, also by commands that start at the same time', async () => {
    const home = join(folder, 'once')
    expect(await readSecrets(home, {})).toBeNull()
    const all = await Promise.all(Array.from({ length: 5 }, () => ensureSecrets(home, {})))
    expect(all.filter(({ made }) => made)).toHaveLength(1)
    expect(new Set(all.map(({ secrets }) => JSON.stringify(secrets))).size).toBe(1)
  })

  it('are readable by their owner only', async () => {
    const home = join(folder, 'private')
    await ensureSecrets(home, {})
    expect((await stat(secretsPath(home, 'development'))).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(secretsPath(home, 'development')))).mode & 0o777).toBe(0o700)
  })

  it('are overruled by the environment without being stored', async () => {
    const home = join(folder, 'overruled')
    const { secrets } = await ensureSecrets(home, { BATON_APP_PASSWORD: 'mine', BATON_API_KEY: '' })
    expect(secrets.development.BATON_APP_PASSWORD).toBe('mine')
    expect(secrets.development.BATON_API_KEY).toMatch(/^bk_development_/)
    expect(await readFile(secretsPath(home, 'development'), 'utf8')).not.toContain('mine')
  })

  it('that are given alone suffice for reading, and every missing one is named', () => {
    expect(readGivenSecrets({ BATON_APP_PASSWORD: '' })).toBeNull()
    const given = {
      BATON_APP_PASSWORD: newSecret(),
      BATON_AUDIT_READER_PASSWORD: newSecret(),
      BATON_VAULT_PASSWORD: newSecret(),
      BATON_AUDIT_WRAPPING_KEY: newSecret(),
      BATON_AUDIT_LOOKUP_KEY: newSecret(),
    }
    expect(readGivenSecrets(given)).toMatchObject(given)
    expect(() => readGivenSecrets({ ...given, BATON_VAULT_PASSWORD: undefined })).toThrow(
      /BATON_VAULT_PASSWORD is missing/,
    )
    const asGateway = {
      ...given,
      BATON_APP_PASSWORD: undefined,
      BATON_GATEWAY_PASSWORD: newSecret(),
    }
    expect(readGivenSecrets(asGateway)).toMatchObject(asGateway)
    expect(() => readGivenSecrets({ ...asGateway, BATON_GATEWAY_PASSWORD: undefined })).toThrow(
      /BATON_APP_PASSWORD is missing/,
    )
  })

  it('that cannot be read are never replaced', async () => {
    const home = join(folder, 'damaged')
    await ensureSecrets(home, {})
    await writeFile(secretsPath(home, 'development'), '{')
    await expect(ensureSecrets(home, {})).rejects.toMatchObject({
      code: 'BATON_SECRETS_UNREADABLE',
    })
  })
})

const peopleOf = async (home: string) => (await ensureSecrets(home, {})).secrets.people

describe('the people of an instance', () => {
  it('get their keys once, also from commands that start at the same time', async () => {
    const home = join(folder, 'once')
    const all = await Promise.all(Array.from({ length: 5 }, () => peopleOf(home)))
    expect(new Set(all.map((keys) => JSON.stringify(keys))).size).toBe(1)
    expect(Object.keys(all[0] ?? {})).toEqual([...PEOPLE])
    expect(new Set(Object.values(all[0] ?? {})).size).toBe(PEOPLE.length)
    expect((await stat(secretsPath(home, 'people'))).mode & 0o777).toBe(0o600)
  })

  it('come to a home that has had its secrets before, and change none of them', async () => {
    const home = join(folder, 'older')
    await ensureSecrets(home, {})
    await rm(secretsPath(home, 'people'))
    const before = await readFile(secretsPath(home, 'development'), 'utf8')
    expect((await peopleOf(home))['reviewer-1']).toMatch(/^bk_reviewer-1_[\w-]{43}$/)
    expect(await readFile(secretsPath(home, 'development'), 'utf8')).toBe(before)
  })

  it('are known by name, and nobody else is', () => {
    expect(readPerson('reviewer-2')).toBe('reviewer-2')
    expect(() => readPerson('root')).toThrow(expect.objectContaining({ code: 'BATON_USAGE' }))
  })

  it('sign with keys of their own; one that cannot be read is told by whose it is and where it stands', async () => {
    const { secrets } = await ensureSecrets(join(folder, 'signing'), {})
    const keys = Object.values(secrets.signing).map((key) => readPersonKey(key, 'ann').keyId)
    expect(new Set(keys).size).toBe(3)
    expect(() => readPersonKey('bm9uc2Vuc2U=', 'ann')).toThrow(
      expect.objectContaining({
        code: 'BATON_KEY_INVALID',
        message: 'the signing key of ann cannot be read',
        fix: expect.stringContaining('secrets/signing.json'),
      }),
    )
  })
})
