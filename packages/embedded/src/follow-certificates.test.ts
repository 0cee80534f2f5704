// What stands in the files of a server is what it has, whoever renewed them and whoever looks; what cannot be used changes nothing.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { makeAuthority, makeCertificate } from './certificates.ts'
import { followCertificates, noteTaken, readServerTls } from './follow-certificates.ts'
import type { ServerMaterial } from './follow-certificates.ts'

const authority = await makeAuthority({ name: 'authority', days: 2 })
const certified = () =>
  makeCertificate(authority, { name: 'server', hosts: ['127.0.0.1'], days: 1 })

let folder: string
const unfollow: (() => Promise<void>)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-follow-'))
  await writeFile(files().authorityFile, authority.certificate)
  await renew()
})
afterEach(async () => {
  for (const end of unfollow.splice(0)) await end()
  await rm(folder, { recursive: true })
})

const files = () => ({
  certificateFile: join(folder, 'server.crt'),
  keyFile: join(folder, 'server.key'),
  authorityFile: join(folder, 'ca.crt'),
})
const takenPath = () => join(folder, 'taken')

async function renew() {
  const { certificate, key } = await certified()
  await writeFile(files().keyFile, key)
  await writeFile(files().certificateFile, certificate)
  return certificate
}

/** A command that uses the server. */
async function follow(take: (material: ServerMaterial) => Promise<void>) {
  const logger = { info: vi.fn(), warn: vi.fn() }
  const options = { title: 'Server', files: files(), takenPath: takenPath() }
  unfollow.push(await followCertificates({ ...options, take, logger, everyMs: 5 }))
  return logger
}

it('a server has what it has started with until that is renewed, and then the renewed, by one of those who use it', async () => {
  await noteTaken(takenPath(), readServerTls(files()))
  const take = vi.fn(async (_material: ServerMaterial) => undefined)
  await follow(take)
  await follow(take)
  expect(take).not.toHaveBeenCalled()
  const certificate = await renew()
  await vi.waitFor(() => expect(take).toHaveBeenCalled())
  const last = await renew()
  await vi.waitFor(() => expect(take.mock.lastCall?.[0].certificate).toBe(last))
  const given = take.mock.calls.map(([material]) => material.certificate)
  expect([certificate, last]).toEqual(expect.arrayContaining([...new Set(given)]))
  expect(new Set(given).size).toBe(given.length)
})

it('what was renewed while nobody used the server is taken before somebody does', async () => {
  await noteTaken(takenPath(), readServerTls(files()))
  const certificate = await renew()
  const take = vi.fn(async (_material: ServerMaterial) => undefined)
  const logger = await follow(take)
  expect(take.mock.calls.map(([material]) => material.certificate)).toEqual([certificate])
  expect(logger.info.mock.calls).toEqual([
    [expect.objectContaining({ event: 'server.files_taken', server: 'Server' })],
  ])
  // And is not taken again by who comes next.
  await follow(take)
  expect(take).toHaveBeenCalledTimes(1)
})

it('what cannot be used is told of once, and the next that can is taken', async () => {
  await noteTaken(takenPath(), readServerTls(files()))
  const take = vi.fn(async (_material: ServerMaterial) => undefined)
  const logger = await follow(take)
  await writeFile(files().keyFile, (await certified()).key)
  await vi.waitFor(() => expect(logger.warn).toHaveBeenCalled())
  const certificate = await renew()
  await vi.waitFor(() => expect(take).toHaveBeenCalled())
  expect(take.mock.lastCall?.[0].certificate).toBe(certificate)
  expect(logger.warn.mock.calls).toEqual([
    [
      {
        event: 'server.files_refused',
        server: 'Server',
        code: 'BATON_TLS_INVALID',
        reason: expect.stringMatching(/server\.key\) is not that of the certificate/),
      },
    ],
  ])
})

it('what a server did not take is not taken for granted by who comes next', async () => {
  await noteTaken(takenPath(), readServerTls(files()))
  const certificate = await renew()
  const logger = await follow(() => Promise.reject(new Error('away')))
  await vi.waitFor(() => expect(logger.warn).toHaveBeenCalledTimes(1))
  const take = vi.fn(async (_material: ServerMaterial) => undefined)
  await follow(take)
  expect(take.mock.lastCall?.[0].certificate).toBe(certificate)
})
