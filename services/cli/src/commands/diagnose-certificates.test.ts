// What ends soon is told with a command that renews that very certificate.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority } from '@baton/embedded'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { addCertificates } from '../certificates/certificate-folder.ts'
import type { Context } from '../context.ts'
import { diagnoseCertificates } from './diagnose-certificates.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'baton-ending-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const placeOf = (name: string) => {
  const folder = join(home, name)
  return { folder, authorityFolder: join(folder, 'authority') }
}
const make = (name: string, days: number) =>
  addCertificates(placeOf(name), [{ name: 'relay', hosts: ['localhost'] }], days)
const diagnose = async (settings: Record<string, string> = {}) =>
  (await diagnoseCertificates({ home, settings } as unknown as Context))[0]

it('names the folder of the instance, where plain `certs renew` does not look', async () => {
  await make('tls', 5)
  const found = await diagnose()
  expect(found?.mark).toBe('unknown')
  expect(found?.text).toContain(`certs renew --dir ${join(home, 'tls')}`)
})

it('says plain `certs renew` of those that `certs new` made', async () => {
  await make('certs', 5)
  expect((await diagnose())?.text).toMatch(/certs renew$/)
})

it('tells one of the instance once, also where this command shows it', async () => {
  const [relay] = await make('tls', 5)
  const found = await diagnose({ BATON_TLS_CERT_FILE: relay?.certificateFile ?? '' })
  expect(found?.ids).toHaveLength(1)
  expect(found?.text).not.toContain('whoever made')
})

it('sends nobody who has one from elsewhere to a folder without it', async () => {
  const [relay] = await make('elsewhere', 5)
  const found = await diagnose({ BATON_TLS_CERT_FILE: relay?.certificateFile ?? '' })
  expect(found?.text).toContain(`have whoever made ${relay?.certificateFile} renew it`)
})

it('says that another authority is needed where that ends: nothing outlives it', async () => {
  const { folder, authorityFolder } = placeOf('tls')
  await mkdir(authorityFolder, { recursive: true })
  const authority = await makeAuthority({ name: 'short', days: 5 })
  await writeFile(join(folder, 'ca.crt'), authority.certificate)
  await writeFile(join(authorityFolder, 'ca.key'), authority.key, { mode: 0o600 })
  await make('tls', 90)
  const found = await diagnose()
  expect(found?.text).toContain('npm run up -- --once --no-tls')
  expect(found?.text).not.toContain('certs renew')
})
